//go:build !scope_off

package scopegrpc_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/scope"
)

// The scopes of a call, with serve as in a program:
//
//	server := grpc.NewServer(grpc.StatsHandler(scopegrpc.ServerHandler()))
//	conn, err := grpc.NewClient(target, grpc.WithStatsHandler(scopegrpc.ClientHandler()))
func Example() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := scope.Start(filepath.Join(dir, "grpc.scope")); err != nil {
		fmt.Println(err)
		return
	}
	conn, stop, err := serve()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, span := scope.Context(context.Background(), "checkout")
	fmt.Println(say(ctx, conn, "/test.Shop/Add", "hello"))
	span.End()
	stop()

	// checkout, in it "gRPC /test.Shop/Add", in it "/test.Shop/Add", in it what the handler does
	fmt.Println(scope.Stop(), scope.Stats().Recorded, "scopes")
	// Output:
	// <nil>
	// <nil> 4 scopes
}
