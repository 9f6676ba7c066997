// Package unended leaves scopes open, or doesn't.
package unended

import (
	"context"
	"errors"
	"log"
	"os"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/scope"
)

var errBad = errors.New("bad")

func work() error { return nil }

func never() {
	s := scope.Begin("a") // want `the scope that s holds never ends: nothing calls s.End`
	_ = s
	var t = scope.Begin("a") // want `the scope that t holds never ends: nothing calls t.End`
	_ = t
	end := scope.Pending("a") // want `the event that end holds never happens: nothing calls end`
	_ = end
	var later scope.Span
	later = scope.Begin("b") // want `the scope that later holds never ends`
	_ = later
}

func neverOfContext(ctx context.Context) context.Context {
	ctx, s := scope.Context(ctx, "a") // want `the scope that s holds never ends: nothing calls s.End`
	_ = s
	return ctx
}

func earlyOfContext(ctx context.Context, fail bool) error {
	_, s := scope.Context(ctx, "a")
	if fail {
		return errBad // want `here the scope that s got on line \d+ is left behind and never ends: call s.End first, or defer it`
	}
	s.End()
	return nil
}

func early(fail bool) error {
	s := scope.Begin("a")
	if fail {
		return errBad // want `here the scope that s got on line 47 is left behind and never ends: call s.End first, or defer it`
	}
	s.End()
	return nil
}

func twice(a, b bool) error {
	s := scope.Begin("a", 1)
	if a {
		return errBad // want `the scope that s got on line 56 is left behind and never ends`
	}
	if b {
		s.End()
		return nil
	}
	switch {
	case work() != nil:
		return errBad // want `the scope that s got on line 56 is left behind and never ends`
	default:
		s.End(5)
	}
	return nil
}

func main(fail bool) error {
	s := scope.Begin("a")
	if fail {
		s.End()
		return errBad
	}
	return work() // want `the scope that s got on line 74 is left behind and never ends`
}

func loop(list []int) error {
	for _, n := range list {
		end := scope.Task("item")
		if n < 0 {
			return errBad // want `the scope that end got on line 84 is left behind and never ends: call end first, or defer it`
		}
		end()
	}
	return nil
}

func lock(mu *sync.Mutex, fail bool) {
	unlock := scope.Lock(mu, "mu")
	if fail {
		return // want `the lock that unlock got on line 94 is left behind and is never unlocked: call unlock first`
	}
	unlock()
}

func again(a, b bool) {
	s := scope.Begin("a")
	s.End()
	s = scope.Begin("b")
	if a {
		return // want `the scope that s got on line 104 is left behind and never ends`
	}
	s.End()
}

func inside() {
	func() {
		s := scope.Begin("a") // want `the scope that s holds never ends`
		_ = s
	}()
}

func falls(fail bool) {
	s := scope.Begin("a")
	if fail {
		s.End()
		return
	}
	work()
} // want `here the scope that s got on line 119 is left behind and never ends`

func skips(list []int) {
	for _, n := range list {
		s := scope.Begin("item")
		if n < 0 {
			continue // want `here the scope that s got on line 129 is left behind and never ends: call s.End first, or defer it`
		}
		if n > 5 {
			work()
			break // want `here the scope that s got on line 129 is left behind and never ends`
		}
		switch n {
		case 0:
			continue // want `is left behind and never ends`
		case 1:
			s.End()
			continue
		}
		work()
		s.End()
	}
	work()
}

func onlyBranch(list []int) {
	for _, n := range list {
		s := scope.Begin("item")
		if n > 0 {
			s.End()
		} else {
			work() // want `is left behind and never ends`
		}
	}
}

// From here on nothing is reported.

type job struct{ span scope.Span }

var spans []scope.Span
var kept func()

func pass(scope.Span) {}

func escapes(j *job, c chan scope.Span, fail bool) (scope.Span, error) {
	a, b, d, e, f := scope.Begin("a"), scope.Begin("b"), scope.Begin("d"), scope.Begin("e"), scope.Begin("f")
	j.span = a
	pass(b)
	spans = append(spans, d)
	c <- e
	p := &f
	g := scope.Begin("g")
	defer func() { g.End(1) }()
	h := scope.Begin("h")
	done := h.End
	i := scope.Begin("i")
	alias := i
	k := job{scope.Begin("k")}
	l := scope.Task("l")
	kept = l
	kept = scope.Task("m")
	n := scope.Task("n")
	go func() { n() }()
	if fail {
		return a, errBad
	}
	done()
	alias.End()
	k.span.End()
	p.End()
	return scope.Begin("r"), nil
}

func deferred(fail bool) error {
	s := scope.Begin("a")
	defer s.End()
	end := scope.Task("b")
	defer end()
	if fail {
		return errBad
	}
	return work()
}

func named(fail bool) (s scope.Span, err error) {
	s = scope.Begin("a")
	if fail {
		return
	}
	s.End()
	return
}

func outer(fail bool) {
	var s scope.Span
	func() {
		s = scope.Begin("a")
		if fail {
			return
		}
		s.End()
	}()
	s.End()
}

func given(s scope.Span, fail bool) {
	s = scope.Begin("a")
	if fail {
		return
	}
	s.End()
}

func allPaths(a, b bool) error {
	s := scope.Begin("a")
	if a {
		s.End()
		return errBad
	}
	err := work()
	s.End(err == nil)
	if b {
		return err
	}
	return nil
}

func correlated(a bool) {
	s := scope.Begin("a")
	if a {
		s.End()
	}
	work()
	if a {
		return
	}
	s.End()
}

func sometimes(a bool) {
	var s scope.Span
	if a {
		s = scope.Begin("a")
	}
	work()
	if !a {
		return
	}
	s.End()
}

func notReturning(t *testing.T, a, b, c, d bool) {
	s := scope.Begin("a")
	if a {
		log.Fatal("x")
	}
	if b {
		os.Exit(1)
	}
	if c {
		panic("x")
	}
	if d {
		t.Fatal("x")
	}
	s.End()
}

func exits(a bool) {
	s := scope.Begin("a")
	if a {
		s.End()
		return
	}
	leave()
}

func leave() { os.Exit(1) }

func forever(c chan int) {
	s := scope.Begin("a")
	for {
		select {
		case n := <-c:
			if n == 0 {
				s.End()
				return
			}
		}
	}
}

func inReturn(a bool) error {
	end := scope.Task("a")
	if a {
		return func(error) error { end(); return nil }(nil)
	}
	end()
	return nil
}

func loops(list []int) error {
	for _, n := range list {
		if n == 0 {
			return nil
		}
		s := scope.Begin("item")
		if n < 0 {
			s.End()
			continue
		}
		work()
		s.End()
	}
	return nil
}

func replaced(end func()) {
	stop := scope.Task("a")
	if end != nil {
		stop = end
	}
	stop()
}

func correlatedInLoop(list []int, a bool) {
	for range list {
		s := scope.Begin("item")
		if a {
			s.End()
		}
		work()
		if !a {
			s.End()
		}
	}
}

func waits(c chan int, list []int) {
	s := scope.Begin("a")
	for _, n := range list {
		if n == 0 {
			select {}
		}
		if n == 1 {
			panic("x")
		}
		if n == 2 {
			continue
		}
		if n == 3 {
			break
		}
	}
	s.End()
}

func untilDone(list []int) {
	s := scope.Begin("first")
	for i := range list {
		if i > 0 {
			s.End()
			s = scope.Begin("next")
		}
	}
	s.End()
}

func retries() error {
	for {
		s := scope.Begin("try")
		err := work()
		s.End()
		if err == nil {
			return nil
		}
	}
}

func labelled(list [][]int) {
outer:
	for _, l := range list {
		s := scope.Begin("list")
		for _, n := range l {
			if n == 0 {
				s.End()
				continue outer
			}
			if n == 1 {
				goto end
			}
		}
	end:
		s.End()
	}
}

// A Mutex is a lock like any other: nothing is reported of it, nor of loops that try
// again.
type guarded struct{ mu scope.Mutex }

func (g *guarded) lock() { g.mu.Lock() }

func (g *guarded) methods() {
	g.mu.Lock()
	defer g.mu.Unlock()
	lock := g.mu.Lock
	lock()
	r := scope.Retry("again")
	r.Again()
	scope.Retry("dropped")
}
