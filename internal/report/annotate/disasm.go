package annotate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// disasm is the content of the disasm report.
type disasm struct {
	*profile.View
	code  *Code
	funcs []listing
	calls []HotCall
	notes []string
}

// listing is the instructions of a function.
type listing struct {
	*symbols.Func
	*file
	insts []symbols.Inst
	until int                      // its last line
	costs map[uint64]profile.Costs // by the instruction's address
}

// instruction is a row.
type instruction struct {
	Function string `json:"function" says:"the linker's name"`
	Address  string `json:"address" says:"in the executable, hexadecimal"`
	File     string `json:"file"`
	Line     int    `json:"line" unit:"line" says:"0: not known"`
	Text     string `json:"text" says:"in Go's syntax"`
	profile.Costs
}

// disasmDocument is the document of disasm --json.
type disasmDocument struct {
	profile.About
	Instructions report.List[instruction] `json:"instructions"`
}

// Disasm shows the instructions of a function, or of each instance of a generic one, with the cost
// of each, below the lines that they were compiled from.
func Disasm(ctx context.Context, v *profile.View, code *Code, function string) (*profile.Report, error) {
	d := &disasm{View: v, code: code}
	if code.Binary == nil {
		return nil, fmt.Errorf("there are no instructions without the executable: %s", code.Why)
	}
	list := code.Binary.Find(symbol(v.Profile, function))
	if len(list) == 0 {
		name, err := profile.FindFunction(v.Profile, function)
		if err != nil {
			return nil, err
		}
		if list = code.Binary.Find(symbol(v.Profile, name)); len(list) == 0 {
			return nil, fmt.Errorf("%s has no code of its own in the executable: all its calls were inlined; scopeview callers shows them", name)
		}
	}
	slide, ok := code.slide(v.Profile)
	if !ok {
		d.notes = append(d.notes, noSlide(v.Profile)+", so no instruction has a value")
	}
	var err error
	if d.calls, err = code.HotCalls(ctx, v.Profile); err != nil {
		d.notes = append(d.notes, err.Error())
	}
	for _, f := range list {
		l, err := d.listing(ctx, f, slide)
		if err != nil {
			return nil, err
		}
		d.funcs = append(d.funcs, *l)
	}
	d.notes = code.head(d.notes...)
	document := &disasmDocument{v.About(d.notes...), d.instructions}
	table := report.Table{Row: instruction{}, CSV: "function, address, file, line, instruction=text, exact", Groups: profile.Groups[instruction](v)}
	return &profile.Report{
		Report: report.Report{Text: d.text, Document: document},
		CSV:    func(w io.Writer) error { return report.WriteCSV(&table, w, document.Instructions) },
	}, nil
}

func (d *disasm) listing(ctx context.Context, f *symbols.Func, slide uint64) (*listing, error) {
	insts, err := d.code.Binary.Disasm(f)
	if err != nil {
		return nil, err
	}
	l := &listing{Func: f, insts: insts, costs: map[uint64]profile.Costs{}}
	for pc, c := range callgraph.Sum(d.Profile, func(fr *symbols.Frame) uint64 {
		if fr.Object != d.code.object {
			return 0
		}
		return l.at(fr.PC - slide)
	}) {
		l.costs[pc] = d.Costs(c)
	}
	if l.file, err = d.code.read(f.File); err != nil {
		d.notes = append(d.notes, err.Error())
	}
	if x, ok := around(l.extents, f.Line); ok {
		l.until = x.to
	}
	if problem := d.code.comment(ctx, l.file, d.calls); problem != "" {
		d.notes = append(d.notes, problem)
	}
	if len(l.remarks) > 0 {
		l.file.costs = d.code.lineCosts(d.View, f.File)
	}
	return l, nil
}

// at returns the address of the instruction that contains pc, or 0 if none does.
func (l *listing) at(pc uint64) uint64 {
	i := sort.Search(len(l.insts), func(k int) bool { return l.insts[k].PC > pc })
	if i == 0 || pc >= l.insts[i-1].PC+uint64(len(l.insts[i-1].Code)) {
		return 0
	}
	return l.insts[i-1].PC
}

// guidance is printed below: a reader who takes a sample's address literally looks at the wrong
// line.
const guidance = "a value stands at the next instruction to be executed: the one behind a slow one"

func (d *disasm) text(b *report.Text) {
	d.Head(b, d.notes...)
	for i := range d.funcs {
		l := &d.funcs[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%s\n\n", b.Bold(show.Name(l.Name+", "+l.File)))
		report.Grid(b, "", append(d.Heads(), "<"), d.rows(l), func(r []string) []string { return r })
	}
	fmt.Fprintf(b, "\n%s\n", b.Dim(guidance))
}

// rows interleaves lines and instructions: an instruction follows all lines up to its own that were
// not printed yet, and a line follows the compiler's remarks about it.
func (d *disasm) rows(l *listing) (rows [][]string) {
	blank := make([]string, len(d.Heads()))
	next := l.Line
	plain := func(text string) { rows = append(rows, append(slices.Clone(blank), text)) }
	for k := range l.insts {
		in := &l.insts[k]
		if in.File == l.File && next > 0 {
			for ; next <= in.Line && next <= min(l.until, len(l.lines)); next++ {
				text := clean(l.lines[next-1])
				for _, comment := range l.comments(d.View, next) {
					plain(commentLine(text, comment))
				}
				plain(fmt.Sprintf("%5d. %s", next, text))
			}
		}
		rows = append(rows, append(d.Cells(l.costs[in.PC]), fmt.Sprintf("    [%s] %x: %s", l.lineOf(in), in.PC, show.Name(in.Text))))
	}
	return rows
}

// lineOf returns the line of an instruction, with its file if that is not the function's.
func (l *listing) lineOf(in *symbols.Inst) string {
	switch {
	case in.Line == 0:
		return "?"
	case in.File == l.File:
		return strconv.Itoa(in.Line)
	}
	return show.Place(in.File, in.Line)
}

// instructions yields the rows.
func (d *disasm) instructions(yield func(instruction) bool) {
	for _, l := range d.funcs {
		for _, in := range l.insts {
			if !yield(instruction{l.Name, strconv.FormatUint(in.PC, 16), in.File, in.Line, in.Text, l.costs[in.PC]}) {
				return
			}
		}
	}
}
