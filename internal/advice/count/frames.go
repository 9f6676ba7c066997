package count

import (
	"runtime"
	"strconv"
	"strings"
)

// frames has the texts of all call stacks' frames.
type frames struct {
	text   []string // "function file:line"
	number map[string]int
	at     map[uintptr][]frame
}

// frame is one frame of a place of the code: several if the compiler has inlined there.
type frame struct {
	number  int
	runtime bool // in the runtime, or another hooked package
	ours    bool // in the recorder
}

// of returns the frames of a return address, innermost first.
func (t *frames) of(pc uintptr) []frame {
	list, ok := t.at[pc]
	if !ok {
		// At the last program counter, runtime.CallersFrames omits inlined frames: so 1, which
		// is no address of a function, follows it.
		list = t.logical([]uintptr{pc, 1})
		t.at[pc] = list
	}
	return list
}

// logical returns the frames of a call stack from runtime.Callers, in which inlined
// functions have their own program counters.
func (t *frames) logical(pcs []uintptr) (list []frame) {
	if t.at == nil {
		t.at, t.number = map[uintptr][]frame{}, map[string]int{}
	}
	for all := runtime.CallersFrames(pcs); len(pcs) > 0; {
		f, more := all.Next()
		if f.Function != "" {
			text := f.Function + " " + f.File + ":" + strconv.Itoa(f.Line)
			n, ok := t.number[text]
			if !ok {
				n = len(t.text)
				t.text = append(t.text, text)
				t.number[text] = n
			}
			list = append(list, frame{n, inRuntime(f.Function), recorders(f.Function)})
		}
		if !more {
			break
		}
	}
	return list
}

// outside returns the numbers of the frames without the innermost ones, which belong to
// hooked packages. ours reports whether the recorder is among them.
func outside(all []frame) (stack []int, ours bool) {
	for i, f := range all {
		if len(stack) > 0 || !f.runtime {
			stack = append(stack, all[i].number)
			ours = ours || f.ours
		}
	}
	return stack, ours
}

// inRuntime reports whether a function belongs to a hooked package, and not to its caller.
func inRuntime(name string) bool {
	return strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/") || strings.Contains(name, ".scopeview") || strings.Contains(name, ".(*scopeview")
}

// recorders reports whether a function is the recorder's.
func recorders(name string) bool {
	rest, ok := strings.CutPrefix(name, "github.com/scopeview/scopeview/")
	if !ok {
		return false
	}
	for _, p := range [...]string{"scope.", "scope/", "internal/advice/count.", "internal/record.", "internal/pool.", "internal/heartbeat.", "internal/hot.", "internal/perf.", "internal/collect.", "flusher.", "sweeper.", "mmpool."} {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}
