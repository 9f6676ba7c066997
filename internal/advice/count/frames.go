package count

import (
	"runtime"
	"strconv"
	"strings"
)

// frames are those of all call stacks, in words.
type frames struct {
	text   []string // "function file:line"
	number map[string]int
	at     map[uintptr][]frame
}

// frame is one of those that a place of the code stands for: more than one where the compiler has inlined.
type frame struct {
	number  int
	runtime bool // of the runtime, which is hooked
	ours    bool // of the recorder
}

// of are the frames that a call returns to, innermost first.
func (t *frames) of(pc uintptr) []frame {
	list, ok := t.at[pc]
	if !ok {
		// Behind the last program counter what is inlined there is left out: 1, which is nobody's, stands behind it.
		list = t.logical([]uintptr{pc, 1})
		t.at[pc] = list
	}
	return list
}

// logical are the frames of a call stack as runtime.Callers returns it: what is inlined has program
// counters of its own in it.
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

// outside are the numbers of frames without the innermost ones, which are of what is hooked. ours is
// whether the recorder is among them.
func outside(all []frame) (stack []int, ours bool) {
	for i, f := range all {
		if len(stack) > 0 || !f.runtime {
			stack = append(stack, all[i].number)
			ours = ours || f.ours
		}
	}
	return stack, ours
}

// inRuntime reports whether a function is of what is hooked, and not of who calls it.
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
