//go:build !scope_off

package hooks

import (
	"strings"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// test is called when a test, or a run of a benchmark with n iterations, begins on its own
// goroutine. Without a name it is the pause in which a parallel test waits for its turn. Where names
// get few, subtests are called by their test, and have their own name as an argument.
func test(name string, n int) (a, b int64) {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return 0, 0
	}
	if name == "" {
		record.Unplaced("parallel pause")
		h := record.BeginTask("parallel pause", nil)
		return h.Loc, h.Start
	}
	var args []any
	if top, _, sub := strings.Cut(name, "/"); sub && record.NamesCrowded() {
		args = append(args, record.KV("test", name))
		name = top
	}
	if n >= 0 {
		args = append(args, record.KV("N", n))
	}
	record.Unplaced(name)
	record.Track(name)
	h := record.BeginTask(name, args)
	return h.Loc, h.Start
}

// tested is called when it is over: "pass", "fail", "skip", or "" of a pause.
func tested(a, b int64, result string) {
	end(a, b, "result", result)
}

// end ends a scope, with an argument where that is not empty.
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
