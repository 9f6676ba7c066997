package doctor

import (
	"fmt"
	"path"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/show"
)

// place returns the text of the first frame of a stack that is the program's own, or "".
func (m *model) place(stack uint32) string {
	text, ok := m.placed[stack]
	if !ok {
		if f := m.frame(stack); f != nil {
			text = m.text(f)
			m.calledFrom(text, f, m.stack(stack))
		}
		m.placed[stack] = text
	}
	return text
}

func (m *model) frame(stack uint32) *gotrace.Frame {
	if m.stack == nil || stack == 0 {
		return nil
	}
	return own(m.stack(stack))
}

// own returns the first frame that is the program's.
func own(frames []gotrace.Frame) *gotrace.Frame {
	for i := range frames {
		if !gotrace.Functions.Waiting.Has(frames[i].Func) {
			return &frames[i]
		}
	}
	return nil
}

// frameText formats a frame: main.(*T).f t.go:12.
func frameText(f *gotrace.Frame) string {
	text := format.ShortFunction(f.Func)
	if f.File != "" {
		text += fmt.Sprintf(" %s:%d", path.Base(strings.ReplaceAll(f.File, `\`, "/")), f.Line)
	}
	return show.Name(text)
}

// roleOf returns the role of a goroutine by the function that it began with. A function
// given to scope.Go is the program's, though package scope begins it.
func roleOf(start string) role {
	switch {
	case start == "runtime.main" || start == "":
		return roleUser
	case gotrace.Functions.Collector.Has(start):
		return roleCollector
	case gotrace.Functions.Runtime.Has(start):
		return roleRuntime
	case gotrace.Functions.Recorder.Has(start) && !gotrace.Functions.Begin.Has(start):
		return roleRecorder
	}
	return roleUser
}
