// Package dropped drops what would end things, and doesn't.
package dropped

import (
	"context"
	"sync"

	"github.com/scopeview/scopeview/scope"
	sc "github.com/scopeview/scopeview/scope"
)

var mu sync.Mutex

func deferred() {
	defer scope.Task("a")                  // want `defer calls scope.Task when the function returns, so the scope begins then and never ends; add \(\) behind the call`
	defer scope.Taskf("a %d", 1)           // want `defer calls scope.Taskf when`
	defer scope.Process("a")               // want `defer calls scope.Process when`
	defer scope.Pending("a")               // want `so the event is announced then and never happens; add \(\)`
	defer scope.Lock(&mu, "mu")            // want `so the lock is taken then and is never unlocked; add \(\)`
	defer scope.Begin("a")                 // want `so the scope begins then and never ends; add \.End\(\)`
	defer sc.Task("a", scope.KV("k", "v")) // want `defer calls scope.Task when`
	defer (scope.Task)("a")                // want `defer calls scope.Task when`
}

func statements() {
	scope.Task("a")      // want `the result of scope.Task is dropped, so the scope never ends`
	scope.Pending("a")   // want `the result of scope.Pending is dropped, so the event never happens`
	scope.Lock(&mu, "a") // want `the result of scope.Lock is dropped, so the lock is never unlocked`
	scope.Begin("a")     // want `the result of scope.Begin is dropped, so the scope never ends`
	for range 3 {
		scope.Task("in a loop") // want `the result of scope.Task is dropped`
	}
	go scope.Task("a")           // want `go calls scope.Task on another goroutine and drops its result, so the scope never ends`
	go scope.Task("a")()         // want `go ends what scope.Task begins on another goroutine at once, so the scope has nothing in it`
	go scope.Begin("a").End()    // want `go ends what scope.Begin begins on another goroutine at once`
	scope.Task("a")()            // want `what scope.Task begins ends at once, so the scope has nothing in it; add defer before it`
	scope.Taskf("a %d", 1)()     // want `what scope.Taskf begins ends at once`
	scope.Pending("a")()         // want `what scope.Pending begins ends at once, so the event has nothing in it`
	scope.Begin("a").End("more") // want `what scope.Begin begins ends at once`
	(scope.Begin("a")).End()     // want `what scope.Begin begins ends at once`
	if mu.TryLock() {
		scope.Task("under a condition")() // want `what scope.Task begins ends at once`
	}
	func() {
		scope.Task("a") // want `the result of scope.Task is dropped`
	}()
}

var _ = scope.Task("a") // want `the result of scope.Task is dropped`

func blank() {
	_ = scope.Task("a")                             // want `the result of scope.Task is dropped`
	_, end := scope.Task("a"), scope.Task("b")      // want `the result of scope.Task is dropped`
	var _, other = scope.Begin("a"), scope.Task("") // want `the result of scope.Begin is dropped`
	end()
	other()
}

func contexts(ctx context.Context) {
	scope.Context(ctx, "a")             // want `the span of scope.Context is dropped, so the scope never ends`
	defer scope.Context(ctx, "a")       // want `the span of scope.Context is dropped`
	go scope.Context(ctx, "a")          // want `the span of scope.Context is dropped`
	ctx, _ = scope.Context(ctx, "a")    // want `the span of scope.Context is dropped`
	inner, _ := scope.Context(ctx, "a") // want `the span of scope.Context is dropped`
	var _, _ = scope.Context(inner, "") // want `the span of scope.Context is dropped`
	ctx, _ = wrapped(ctx)               // want `the span of dropped.wrapped is dropped`
}

func wrapped(ctx context.Context) (context.Context, scope.Span) { // want wrapped:"begins the scope"
	return scope.Context(ctx, "wrapped")
}

func contextsEnded(ctx context.Context) {
	_, span := scope.Context(ctx, "a")
	defer span.End()
	_, other := wrapped(ctx)
	other.End()
	takeBoth(scope.Context(ctx, "a"))
}

func takeBoth(context.Context, scope.Span) {}

var global = scope.Task("global")

type job struct {
	end  func()
	span scope.Span
}

func take(func()) {}

func silent() (func(), scope.Span) {
	defer scope.Task("a")()
	defer scope.Taskf("a %d", 1)()
	defer scope.Lock(&mu, "mu")()
	defer scope.Begin("a").End()
	defer scope.Begin("a").End("more")
	scope.Lock(&mu, "to wait for its holder")()
	go func() { defer scope.Task("a")() }()
	scope.Event("e")
	scope.Stop()
	take(scope.Task("a"))
	defer take(scope.Task("a"))
	j := job{scope.Task("a"), scope.Begin("b")}
	j.end = scope.Pending("a")
	ends := map[string]func(){"a": scope.Task("a")}
	ends["b"] = scope.Task("b")
	return scope.Task("a"), scope.Begin("b")
}
