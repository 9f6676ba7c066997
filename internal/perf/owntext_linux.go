package perf

import (
	"runtime"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/unwind"
)

// ownStack is the number of bytes of the stack in a sample of this process: Go functions without
// a frame have pushed at most the frame pointer.
const ownStack = 16

// ownText is the Go code of this process. Other code is unknown to it.
type ownText struct{}

func (ownText) Arch() string { return runtime.GOARCH }

// Function finds the end by a binary search, because the runtime only has where functions
// begin.
func (ownText) Function(pc uint64) (from, to uint64, ok bool) {
	f := runtime.FuncForPC(uintptr(pc))
	if f == nil {
		return 0, 0, false
	}
	from = uint64(f.Entry())
	inside := func(pc uint64) bool {
		g := runtime.FuncForPC(uintptr(pc))
		return g != nil && uint64(g.Entry()) == from
	}
	size := uint64(16)
	for size < 1<<30 && inside(from+size) {
		size *= 2
	}
	for step := size / 2; step > 0; step /= 2 {
		if !inside(from + size - step) {
			size -= step
		}
	}
	return from, from + size, true
}

func (ownText) Code(pc uint64, n int) []byte { return sys.Code(uintptr(pc), n) }

func (ownText) Stub(uint64) bool { return false }

func (ownText) Begin(uint64) bool { return false }

// outermost lists the functions that goroutines and threads begin with
// (abi.FuncFlagTopFrame).
var outermost = []string{"runtime.goexit", "runtime.mstart", "runtime.rt0_go"}

func (t ownText) Rule(pc uint64) unwind.Rule {
	f := runtime.FuncForPC(uintptr(pc))
	if f == nil {
		return unwind.Rule{}
	}
	if slices.Contains(outermost, f.Name()) {
		return unwind.Rule{How: unwind.Outermost}
	}
	file, _ := f.FileLine(f.Entry())
	if file == "?" { // C linked by Go's linker, as of the race detector
		return unwind.Rule{}
	}
	rule := unwind.OfGo(t, pc, -1)
	if rule.How == unwind.OnStack && rule.Offset == 0 && strings.HasSuffix(file, ".s") {
		return unwind.Rule{} // assembly may have pushed something
	}
	return rule
}
