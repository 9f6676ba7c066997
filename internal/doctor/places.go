package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
)

// ours is where this module's packages are.
const ours = "github.com/scopeview/scopeview/"

// plumbing are the packages whose frames say how one waits, and not where.
var plumbing = []string{"sync.", "internal/sync.", "runtime.", "internal/runtime/", "sync/atomic.", "time.", ours + "scope.", ours + "internal/record.", "golang.org/x/sync/"}

// place is the first frame of a stack that is the program's own; "" if there is none.
func (m *model) place(stack uint32) string {
	if f := m.frame(stack); f != nil {
		return frameText(f)
	}
	return ""
}

func (m *model) frame(stack uint32) *gotrace.Frame {
	if m.stack == nil || stack == 0 {
		return nil
	}
	return own(m.stack(stack))
}

// own is the first frame that is the program's.
func own(frames []gotrace.Frame) *gotrace.Frame {
	for i := range frames {
		if !slices.ContainsFunc(plumbing, func(p string) bool { return strings.HasPrefix(frames[i].Func, p) }) {
			return &frames[i]
		}
	}
	return nil
}

// frameText is a frame as people see it: main.(*T).f t.go:12.
func frameText(f *gotrace.Frame) string {
	text := format.ShortFunction(f.Func)
	if f.File != "" {
		text += fmt.Sprintf(" %s:%d", path.Base(strings.ReplaceAll(f.File, `\`, "/")), f.Line)
	}
	return analysis.Show(text)
}

// beganByProgram reports whether start is what scope.Go begins a goroutine with, now or in
// traces of v1.2.
func beganByProgram(start string) bool {
	for _, f := range []string{"internal/record.Go", "scope.Go", "scope.startGo"} {
		if strings.HasPrefix(start, ours+f) {
			return true
		}
	}
	return false
}

// roleOf tells whose goroutine it is by the function that it began with.
func roleOf(start string) role {
	switch {
	case start == "runtime.main" || start == "":
		return roleUser
	case start == "runtime.gcBgMarkWorker" || start == "runtime.bgsweep" || start == "runtime.bgscavenge":
		return roleCollector
	case strings.HasPrefix(start, "runtime.") || strings.HasPrefix(start, "runtime/trace.") || strings.HasPrefix(start, "runtime/pprof."):
		return roleRuntime
	}
	for _, p := range []string{"scope.", "scope/", "mmpool.", "flusher.", "sweeper.", "internal/"} {
		// What a program gives to scope.Go runs in a function of ours, but is begun by it.
		if strings.HasPrefix(start, ours+p) && !beganByProgram(start) {
			return roleRecorder
		}
	}
	return roleUser
}
