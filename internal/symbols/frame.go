package symbols

import (
	"cmp"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
)

// Frame is a function on a stack or at an address, and the position in it. It is the frame of
// everything that reads: traces, Go execution traces, profiles, executables. A source without
// one of the fields leaves it zero.
type Frame struct {
	Func, File string // "": not known
	Object     string // file whose code it is, or [kernel]; "": the program's own
	PC         uint64 // an address inside the call, of a leaf the instruction's; 0: not known
	Line       int    // 0: not known
	Start      int    // the function's first line; 0: not known
	Disc       int32  // DWARF's discriminator, which distinguishes parts of a line; 0: none
	Inlined    bool   // known to be inlined into the next frame
	Prologue   bool   // the instruction is in the function's prologue
}

// FrameOf returns the frame of a trace's block.
func FrameOf(f *format.Frame) Frame {
	return Frame{Func: f.Function, File: f.File, Line: int(f.Line), Start: int(f.Start), Inlined: f.Inlined}
}

// String formats a frame as in a list of callers: the function without its package's path, the
// file without its directory, which describes the machine more than the program, and the line;
// without a line, the function alone.
func (f *Frame) String() string {
	text := format.ShortFunction(f.Func)
	if f.File == "" || f.Line == 0 {
		return text
	}
	return text + " " + show.Base(f.File) + ":" + strconv.Itoa(f.Line)
}

// Compare orders frames by all that they have.
func (f *Frame) Compare(g *Frame) int {
	if f == g {
		return 0
	}
	return cmp.Or(cmp.Compare(f.Func, g.Func), cmp.Compare(f.File, g.File), cmp.Compare(f.Line, g.Line), cmp.Compare(f.Start, g.Start),
		cmp.Compare(f.Disc, g.Disc), cmp.Compare(f.PC, g.PC), cmp.Compare(f.Object, g.Object), b2i(f.Inlined)-b2i(g.Inlined), b2i(f.Prologue)-b2i(g.Prologue))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
