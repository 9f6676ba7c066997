//go:build !scope_off

package scopeotel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopeotel"
)

func ExampleNewSpanProcessor() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := scope.Start(filepath.Join(dir, "otel.scope")); err != nil {
		fmt.Println(err)
		return
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(scopeotel.NewSpanProcessor()))
	ctx, span := provider.Tracer("shop").Start(context.Background(), "checkout")
	_, inner := provider.Tracer("shop").Start(ctx, "pay")
	inner.End()
	span.End()

	fmt.Println(scope.Stop(), scope.Stats().Recorded > 0)
	// Output:
	// <nil> true
}
