// Package wrapper has functions that return what a Task returned.
package wrapper

import "github.com/scopeview/scopeview/scope"

// Query begins by way of a function that is declared behind it.
func Query(name string) func() { return region("query " + name) } // want Query:"begins the scope"

func region(name string) func() { // want region:"begins the scope"
	if name == "" {
		return func() {}
	}
	return scope.Task(name)
}

// Span is the same for Begin.
func Span() scope.Span { return (scope.Begin("span")) } // want Span:"begins the scope"

type Store struct{}

// Lock is a method.
func (s *Store) Lock() func() { return scope.Lock(nil, "store") } // want Lock:"begins the lock"

// Run returns no end, though something in it does.
func Run(f func() func()) func() {
	f = func() func() { return scope.Task("inside") }
	return func() { f()() }
}

func Boxed() any { return scope.Task("boxed") }

func use(s *Store) {
	defer region("a") // want `defer calls wrapper.region when the function returns, so the scope begins then and never ends`
	defer s.Lock()    // want `defer calls Lock when the function returns, so the lock is taken then and is never unlocked`
	Span()            // want `the result of wrapper.Span is dropped`
	Run(nil)
	Boxed()
	defer region("a")()
}
