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
	if list, ok := t.at[pc]; ok {
		return list
	}
	if t.at == nil {
		t.at, t.number = map[uintptr][]frame{}, map[string]int{}
	}
	var list []frame
	// Behind the last program counter what is inlined there is left out: 1, which is nobody's, stands behind it.
	for all := runtime.CallersFrames([]uintptr{pc, 1}); ; {
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
	t.at[pc] = list
	return list
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
