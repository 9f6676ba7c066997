//go:build !scope_off

package hooks

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/scope"
)

// TestPropagating: a request carries its sender's recorded id if the user wants that and the
// sender's context has one.
func TestPropagating(t *testing.T) {
	defer func() { propagating = false }()
	propagating = true
	const header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ctx := context.Background()
	if next, a, b := request(ctx, "GET", "", "/", "", header, []string{"a=1 ", "b=2"}); next != nil || a != 0 || b != 0 {
		t.Error("without a recording a request is recorded")
	}
	if a, b, parent, state := send(ctx, "GET", "x.example", "/", nil); a != 0 || b != 0 || parent+state != "" {
		t.Error("without a recording a request is recorded")
	}
	if err := scope.Start(filepath.Join(t.TempDir(), "x.scope")); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	if _, _, parent, _ := send(ctx, "GET", "x.example", "/", nil); parent != "" {
		t.Errorf("a request of nothing has the header %q", parent)
	}
	next, _, _ := request(ctx, "GET", "", "/", "", header, []string{"a=1 ", "b=2"})
	served, _ := scope.LinkOf(next.(context.Context))
	a, b, parent, state := send(next, "GET", "x.example", "/", nil)
	answered(a, b, 0, context.Canceled)
	sent, ok := scope.ParseTraceparent(parent)
	if sender, _ := scope.ParseTraceparent(header); !ok || sent.Trace != sender.Trace || served.Parent != sender.Span || sent.Span == served.Span || sent.Flags != sender.Flags || state != "a=1,b=2" {
		t.Errorf("the receiver gets %q and %q, for a request that came with %q", parent, state, header)
	}
	const other = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01"
	for _, c := range []struct {
		own  []string
		want bool
	}{{[]string{header}, true}, {[]string{other}, false}, {[]string{"malformed"}, true}, {[]string{other, other}, true}} {
		if _, _, parent, _ := send(next, "GET", "x.example", "/", c.own); (parent != "") != c.want {
			t.Errorf("instead of %q the receiver gets %q", c.own, parent)
		}
	}
	propagating = false
	if _, b, parent, _ := send(next, "GET", "y.example", "/", nil); parent != "" || b == 0 {
		t.Errorf("the receiver gets %q, and nobody wants that", parent)
	}
}
