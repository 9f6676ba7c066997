//go:build !scope_off && !race

package scope_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/scope"
)

var kept context.Context

// TestContextAllocates checks that only the context is allocated, and nothing without a
// recording.
func TestContextAllocates(t *testing.T) {
	ctx, n, text := context.Background(), 1<<40, "text"
	link := scope.Link{Trace: [16]byte{1}, Span: [8]byte{2}}
	calls := []struct {
		name string
		want float64
		f    func()
	}{
		{"Context", 1, func() {
			_, span := scope.Context(ctx, "a")
			span.End()
		}},
		{"Context with arguments", 1, func() {
			_, span := scope.Context(ctx, "a", n, scope.KV("k", text))
			span.End(n)
		}},
		{"Context with many", 1, func() {
			_, span := scope.Context(ctx, "a", n, n, n, n, n, n, n, n, n, n, n, n, n, n)
			span.End()
		}},
		{"LinkOf", 0, func() { scope.LinkOf(ctx) }},
		{"WithLink", 1, func() { kept = scope.WithLink(ctx, link) }},
		{"a link", 0, func() { scope.Task("a", link)() }},
		{"a link with arguments", 0, func() { scope.Event("a", n, link, scope.KV("k", n)) }},
	}
	measure := func(t *testing.T, recording float64) {
		for _, c := range calls {
			least := math.Inf(1)
			for range 5 {
				if least = min(least, testing.AllocsPerRun(200, c.f)); least <= c.want*recording {
					break
				}
			}
			if least != c.want*recording {
				t.Errorf("%s: %v allocations, want %v", c.name, least, c.want*recording)
			}
		}
	}
	t.Run("stopped", func(t *testing.T) { measure(t, 0) })
	if err := scope.Start(t.TempDir()+string(filepath.Separator), scope.WithFlushEvery(math.MaxInt64), scope.WithHeartbeat(math.MaxInt64)); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	t.Run("recording", func(t *testing.T) { measure(t, 1) })
}
