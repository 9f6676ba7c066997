package count

import (
	"runtime"
	"strings"
	"testing"
)

//go:noinline
func physical(t *frames) []frame {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	return t.of(pcs[0])
}

func inlined(t *frames) []frame { return physical(t) }

// TestInlinedFrames: a function inlined at a program counter is listed with the function
// that it is inlined into.
func TestInlinedFrames(t *testing.T) {
	f := &frames{}
	list := inlined(f)
	var names []string
	for _, x := range list {
		name, _, _ := strings.Cut(f.text[x.number], " ")
		names = append(names, name[strings.LastIndexByte(name, '.')+1:])
	}
	if got := strings.Join(names, " "); got != "inlined TestInlinedFrames" {
		t.Errorf("frames are %q, want inlined and its caller", got)
	}
}
