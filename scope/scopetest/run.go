package scopetest

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

// Run records the calling test, or the run of a benchmark. Its row has its name, and so has a
// scope that ends after the cleanups that are added later, with the argument result: pass, fail
// or skip. Call it first, once in each test and subtest that should have a row. A subtest's
// scope is a child of its test's.
//
// The returned context is t.Context() and carries the scope: scopes that scope.Context begins
// with it, here or in a server that the test calls, are children of the test.
func Run(t testing.TB) context.Context {
	t.Helper()
	if !scope.Enabled() || record.TestsHooked.Load() {
		return t.Context()
	}
	name, args := named(t.Name())
	scope.Track(name)
	ctx, span := scope.Context(within(t), name, args...)
	if l, ok := scope.LinkOf(ctx); ok {
		running.Store(t.Name(), l)
	}
	t.Cleanup(func() {
		running.Delete(t.Name())
		span.End(scope.KV(record.TestResult, result(t)))
	})
	return ctx
}

// running holds the links of the running tests, by name: a subtest's context does not carry its
// test's link.
var running sync.Map

// within returns a test's context, with the scope of the innermost enclosing test that has one.
func within(t testing.TB) context.Context {
	for name := t.Name(); ; {
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return t.Context()
		}
		name = name[:i]
		if l, ok := running.Load(name); ok {
			return scope.WithLink(t.Context(), l.(scope.Link))
		}
	}
}

// result returns the same words that package testing passes to hooks.
func result(t testing.TB) string {
	switch {
	case t.Failed() || panicking():
		return "fail"
	case t.Skipped():
		return "skip"
	}
	return "pass"
}

// panicking reports whether a cleanup runs because of a panic, which package testing marks as a
// failure only afterwards.
func panicking() bool {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" {
			return true
		}
		if !more {
			return false
		}
	}
}

// Parallel is t.Parallel, and records the time until the test's turn as a scope, parallel pause.
func Parallel(t *testing.T) {
	t.Helper()
	if scope.Enabled() && !record.TestsHooked.Load() {
		defer scope.Task(record.ParallelPause)()
	}
	t.Parallel()
}
