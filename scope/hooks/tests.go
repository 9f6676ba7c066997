//go:build !scope_off

package hooks

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// test is called when a test, or a run of a benchmark with n iterations, begins on its own
// goroutine. An empty name is the pause in which a parallel test waits for its turn.
func test(name string, n int) (a, b int64) {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return 0, 0
	}
	record.TestsHooked.Store(true)
	if name == "" {
		record.Unplaced(record.ParallelPause)
		h := record.BeginTask(record.ParallelPause, nil)
		return h.Loc, h.Start
	}
	name, args := record.TestNamed(name)
	if n >= 0 {
		args = append(args, record.KV("N", n))
	}
	record.Unplaced(name)
	record.Track(name)
	h := record.BeginTask(name, args)
	return h.Loc, h.Start
}

// tested is called at its end with the result "pass", "fail" or "skip", or "" for a pause.
func tested(a, b int64, result string) {
	end(a, b, record.TestResult, result)
}

// end ends a scope, with an argument unless value is empty.
func end(loc, start int64, key, value string) {
	h := record.Handle{Loc: loc, Start: start}
	switch {
	case loc == 0:
	case value == "":
		h.End()
	default:
		record.EndArgs(h, []any{record.KV(key, value)})
	}
}
