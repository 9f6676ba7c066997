//go:build !scope_off && !race

package scopeslog_test

import (
	"context"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopeslog"
)

// TestAllocations: a record with the usual attributes allocates nothing beyond what next does,
// except, in a request, its ids for next.
func TestAllocations(t *testing.T) {
	next := quiet{slog.NewTextHandler(io.Discard, nil)}
	l := slog.New(scopeslog.New(next))
	if err := scope.Start(t.TempDir()+string(filepath.Separator), scope.WithFlushEvery(math.MaxInt64), scope.WithHeartbeat(math.MaxInt64)); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	plain := context.Background()
	request, span := scope.Context(plain, "request")
	defer span.End()
	for _, test := range []struct {
		about string
		ctx   context.Context
		want  float64
	}{{"plain", plain, 0}, {"in a request", request, 1}} {
		least := math.Inf(1)
		for range 5 {
			least = min(least, testing.AllocsPerRun(200, func() {
				l.LogAttrs(test.ctx, slog.LevelInfo, "cache miss", slog.String("key", "text"), slog.Int("size", 1<<40))
			}))
		}
		if least != test.want {
			t.Errorf("%s: %v allocations, want %v", test.about, least, test.want)
		}
	}
}
