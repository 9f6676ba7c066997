package annotate

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// InstructionsView compares functions and their instructions: sampled CPU time and waits.
var InstructionsView = profile.Compared(InstructionFigures)

// InstructionFigures returns the figures of InstructionsView for any samples; t is nil if they are
// not from a recording. A function's costs include those of functions inlined into it. An
// instruction is named by its function, its offset there, and its text without the addresses of
// code and data.
func InstructionFigures(t *trace.Trace, p *samples.Profile, wanted func(string) bool) (*report.Figures, error) {
	c := &Code{}
	if t != nil {
		c.UseStored(t)
	}
	if _, err := c.use(p, "", ""); err != nil {
		return nil, fmt.Errorf("there are no instructions without the executable: %w; scopeview archive stores it with a trace", err)
	}
	slide, ok := c.slide(p)
	if !ok {
		return nil, fmt.Errorf("there are no instructions: %s", noSlide(p))
	}
	x := &instructions{code: c, slide: slide, of: map[*symbols.Func]*coded{}, byName: map[string]*coded{}}
	f := profile.FiguresBy(p, "function", wanted, func(fr *symbols.Frame) string {
		if l, _ := x.at(fr); l != nil {
			return l.Name
		}
		return fr.Func
	})
	f.Notes = slices.Concat(f.Notes, x.notes)
	list := profile.FiguresBy(p, "instruction", wanted, func(fr *symbols.Frame) string {
		_, name := x.at(fr)
		return name
	})
	for _, r := range list.Rows {
		if l := x.byName[r.Name]; l != nil {
			r.Function, r.Code = l.Name, l.code
			f.Rows = append(f.Rows, r)
		}
	}
	return f, nil
}

// instructions finds the instructions of frames.
type instructions struct {
	code   *Code
	slide  uint64
	of     map[*symbols.Func]*coded
	byName map[string]*coded // of instructions
	notes  []string
}

// coded is a function's code.
type coded struct {
	listing
	texts []string
	code  string // identifies it
}

// at returns the function that contains a frame's address, and the name of its instruction; nil and
// "" if they are not known.
func (x *instructions) at(fr *symbols.Frame) (*coded, string) {
	if fr.PC == 0 || fr.Object != x.code.object {
		return nil, ""
	}
	f, _, _ := x.code.Binary.At(fr.PC - x.slide)
	if f == nil {
		return nil, ""
	}
	l := x.of[f]
	if l == nil {
		l = x.read(f)
		x.of[f] = l
	}
	pc := l.at(fr.PC - x.slide)
	if pc == 0 {
		return nil, ""
	}
	i, _ := slices.BinarySearchFunc(l.insts, pc, func(in symbols.Inst, pc uint64) int { return int(int64(in.PC) - int64(pc)) })
	name := fmt.Sprintf("%s+%#x %s", l.Name, pc-l.Entry, l.texts[i])
	x.byName[name] = l
	return l, name
}

// read reads a function's code.
func (x *instructions) read(f *symbols.Func) *coded {
	l := &coded{listing: listing{Func: f}}
	alike := slices.DeleteFunc(x.code.Binary.Find(f.Name), func(g *symbols.Func) bool { return g.Name != f.Name })
	if len(alike) > 1 {
		x.notes = append(x.notes, fmt.Sprintf("several functions are called %s: their instructions are left out", f.Name))
		return l
	}
	var err error
	if l.insts, err = x.code.Binary.Disasm(f); err != nil {
		x.notes = append(x.notes, err.Error())
		return l
	}
	l.texts = x.code.Binary.Placeless(f, l.insts)
	all := sha256.New()
	for i, text := range l.texts {
		fmt.Fprintf(all, "%x %s\n", l.insts[i].PC-f.Entry, text)
	}
	l.code = string(all.Sum(nil))
	return l
}
