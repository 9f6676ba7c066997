package doctor

import (
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/symbols"
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

func (m *model) frame(stack uint32) *symbols.Frame {
	if m.stack == nil || stack == 0 {
		return nil
	}
	return own(m.stack(stack))
}

// own returns the first frame that is the program's.
func own(frames []*symbols.Frame) *symbols.Frame {
	for _, f := range frames {
		if !gotrace.Functions.Waiting.Has(f.Func) {
			return f
		}
	}
	return nil
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
