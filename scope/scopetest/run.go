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

// Run records the calling test, or the run of a benchmark: its row has its name, and so has a
// scope that ends behind the cleanups that are added later, with the argument result: pass,
// fail or skip. It is called first, once in each test and in each subtest that is to have a row.
// A subtest's scope is a part of its test's.
//
// The context is the test's, t.Context(), and carries the scope: what is begun with it by
// scope.Context, here or by a server that is asked, is a part of the test.
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

// running are the links of the tests that run, by their names: the context of a subtest does not
// carry its test's.
var running sync.Map

// within is a test's context, with the scope of the innermost test around it that has one.
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

// result is told to hooks by package testing in the same words.
func result(t testing.TB) string {
	switch {
	case t.Failed() || panicking():
		return "fail"
	case t.Skipped():
		return "skip"
	}
	return "pass"
}

// panicking reports whether a cleanup runs because the test panics, which package testing takes
// for a failure only afterwards.
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

// Parallel is t.Parallel. The time that it waits for its turn is a scope of its own, parallel
// pause.
func Parallel(t *testing.T) {
	t.Helper()
	if scope.Enabled() && !record.TestsHooked.Load() {
		defer scope.Task(record.ParallelPause)()
	}
	t.Parallel()
}
