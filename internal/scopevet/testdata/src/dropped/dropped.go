// Package dropped drops what would end things, and doesn't.
package dropped

import (
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
	go scope.Task("a") // want `go calls scope.Task on another goroutine and drops its result, so the scope never ends`
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
	scope.Task("nothing takes no time")()
	scope.Begin("a").End()
	go scope.Task("ended elsewhere")()
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
