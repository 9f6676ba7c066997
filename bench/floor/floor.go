// Package floor has the minimum cost of any tracer of scopes: two readings of the time in a
// deferred pair. All costs are multiples of it, so that results of different machines are
// comparable.
package floor

// pair has the form of a scope that is not recorded.
type pair struct{ start int64 }

// backwards is only written if time runs backwards: a store at every end would be shared by
// all goroutines.
var backwards bool

func begin() func() { return pair{now()}.end }

func (p pair) end() {
	if now() < p.start {
		backwards = true
	}
}

//go:noinline
func scope() { defer begin()() }

// Loop runs n empty scopes.
func Loop(n int) {
	for range n {
		scope()
	}
}

//go:noinline
func empty() {}

// Empty calls an empty function n times.
func Empty(n int) {
	for range n {
		empty()
	}
}
