//go:build !scope_off

package scope_test

import (
	"context"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
)

// recordLinks starts a recording and returns a function that stops it and returns the links of
// its scopes by name.
func recordLinks(t *testing.T, opts ...scope.Option) func() map[string]scope.Link {
	t.Helper()
	stop := recordtest.Start(t, opts...)
	return func() map[string]scope.Link {
		t.Helper()
		links := map[string]scope.Link{}
		for _, e := range stop() {
			if e.Link != (scope.Link{}) && e.Kind == format.KindTask && !e.Open {
				links[e.Name] = e.Link
			}
		}
		return links
	}
}

// foreign is a context of another package, which does not know ours.
type foreign struct{ inner context.Context }

func (f foreign) Deadline() (time.Time, bool) { return f.inner.Deadline() }
func (f foreign) Done() <-chan struct{}       { return f.inner.Done() }
func (f foreign) Err() error                  { return f.inner.Err() }
func (f foreign) Value(key any) any           { return f.inner.Value(key) }

type key struct{}

// TestContext: scopes on several goroutines and under contexts of other packages are linked as
// parent and child.
func TestContext(t *testing.T) {
	stop := recordLinks(t)
	ctx, request := scope.Context(context.WithValue(context.Background(), key{}, "kept"), "request", scope.KV("path", "/x"))
	root, ok := scope.LinkOf(ctx)
	if !ok || root.Trace == [16]byte{} || root.Span == [8]byte{} || root.Parent != [8]byte{} {
		t.Errorf("the first scope is %v", root)
	}
	wrapped, cancel := context.WithCancel(foreign{ctx})
	defer cancel()
	if l, _ := scope.LinkOf(wrapped); l != root {
		t.Errorf("through another's context it is %v", l)
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		inner, span := scope.Context(context.WithValue(wrapped, key{}, "another"), "work", 1, 2, 3)
		_, leaf := scope.Context(inner, "leaf", scope.KV("a", 1), scope.KV("b", "x"), scope.KV("c", 2.5))
		leaf.End(scope.KV("d", 1))
		span.End()
		if inner.Value(key{}) != "another" || inner.Done() != wrapped.Done() {
			t.Error("the context has lost what it had")
		}
	}()
	<-done
	_, second := scope.Context(ctx, "second")
	second.End()
	request.End()
	in, _ := scope.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	_, served := scope.Context(scope.WithLink(context.Background(), in), "served")
	served.End()
	links := stop()
	for _, x := range []struct{ child, parent string }{{"work", "request"}, {"leaf", "work"}, {"second", "request"}} {
		c, p := links[x.child], links[x.parent]
		if c.Trace != root.Trace || c.Parent != p.Span || c.Span == p.Span || c.Span == [8]byte{} {
			t.Errorf("%s is %v, its parent %s is %v", x.child, c, x.parent, p)
		}
	}
	if links["request"] != root {
		t.Errorf("recorded is %v, the context had %v", links["request"], root)
	}
	if l := links["served"]; l.Trace != in.Trace || l.Parent != in.Span || l.Span == in.Span {
		t.Errorf("what came in is %v, its scope %v", in, l)
	}
}

// TestContextAlone: a scope that is not recorded leaves the context unchanged.
func TestContextAlone(t *testing.T) {
	in := scope.Link{Trace: [16]byte{1}, Span: [8]byte{2}}
	ctx := context.Background()
	if got, span := scope.Context(ctx, "x"); got != ctx || span != (scope.Span{}) {
		t.Error("without a recording there is another context")
	}
	if scope.WithLink(ctx, in) != ctx {
		t.Error("without a recording a link is carried")
	}
	stop := recordLinks(t, scope.WithFilter("*,-left out"))
	linked := scope.WithLink(ctx, in)
	if got, span := scope.Context(linked, "left out"); got != linked || span != (scope.Span{}) {
		t.Error("what is filtered out has another context")
	}
	if scope.WithLink(ctx, scope.Link{Span: [8]byte{1}}) != ctx {
		t.Error("a link without a trace is carried")
	}
	if l, ok := scope.LinkOf(scope.WithLink(linked, scope.Link{Trace: [16]byte{9}})); !ok || l.Trace[0] != 9 {
		t.Errorf("the later link is not seen, but %v", l)
	}
	var nobody context.Context // a nil context is accepted too
	if _, ok := scope.LinkOf(nobody); ok {
		t.Error("no context has a link")
	}
	none, span := scope.Context(nobody, "none")
	span.End()
	if none == nil || none.Err() != nil {
		t.Error("what is made of no context can't be used")
	}
	if l, ok := stop()["none"]; !ok || l.Parent != [8]byte{} {
		t.Errorf("without a context the scope is %v", l)
	}
}
