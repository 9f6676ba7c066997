package annotate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// disasm is what Disasm shows.
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
	insts   []symbols.Inst
	lines   []string // of its file; nil: not found
	until   int      // its last line
	remarks map[int][]symbols.Remark
	calls   map[int][]string           // what is said of hot ones
	costs   map[uint64]*callgraph.Cost // by the instruction's address
	prices  map[int]*callgraph.Cost    // of the lines of its file, if there are remarks
}

// Disasm shows the instructions of a function, of a generic one of each instance, with what
// each of them cost, below the lines that they were made of.
func Disasm(ctx context.Context, v *profile.View, code *Code, function string) (*profile.Report, error) {
	d := &disasm{View: v, code: code}
	if code.Binary == nil {
		return nil, fmt.Errorf("there are no instructions without the executable: %s", code.Why)
	}
	list := code.Binary.Find(symbol(v.Profile, function))
	if len(list) == 0 {
		costs := callgraph.Sum(v.Profile, func(f *samples.Frame) string { return f.Func })
		name, err := profile.FindFunction(costs, function)
		if err != nil {
			return nil, err
		}
		if list = code.Binary.Find(symbol(v.Profile, name)); len(list) == 0 {
			return nil, fmt.Errorf("%s has no code of its own in the executable: it was inlined wherever it is called; scopeview callers shows where", name)
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
	return &profile.Report{Report: report.Report{Text: d.text, Document: d.document()}, CSV: d.csv}, nil
}

func (d *disasm) listing(ctx context.Context, f *symbols.Func, slide uint64) (*listing, error) {
	insts, err := d.code.Binary.Disasm(f)
	if err != nil {
		return nil, err
	}
	l := &listing{Func: f, insts: insts}
	l.costs = callgraph.Sum(d.Profile, func(fr *samples.Frame) uint64 {
		if fr.Object != d.code.object {
			return 0
		}
		return l.at(fr.PC - slide)
	})
	var path string
	if l.lines, path, err = d.code.Sources.Read(f.File); err != nil {
		d.notes = append(d.notes, err.Error())
	}
	if x, ok := around(extents(l.lines), f.Line); ok {
		l.until = x.to
	}
	var problem string
	if l.remarks, problem = d.code.remarks(ctx, path); problem != "" {
		d.notes = append(d.notes, problem)
	}
	l.calls = hotLines(d.calls, f.File)
	if len(l.remarks) > 0 {
		l.prices = d.code.lineCosts(d.Profile, f.File)
	}
	return l, nil
}

// at returns the address of the instruction that an address is in; 0: it is in none.
func (l *listing) at(pc uint64) uint64 {
	i := sort.Search(len(l.insts), func(k int) bool { return l.insts[k].PC > pc })
	if i == 0 || pc >= l.insts[i-1].PC+uint64(len(l.insts[i-1].Code)) {
		return 0
	}
	return l.insts[i-1].PC
}

// guidance is said below: who reads a sample's address literally looks at the wrong line.
const guidance = "a value stands at the instruction that was to be executed next: behind a slow one"

func (d *disasm) text(b *report.Text) {
	d.Head(b, d.code.head(d.notes...)...)
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

// rows interleaves: before an instruction of a line are the lines up to that one which were
// not there yet, and before a line is what the compiler says about it.
func (d *disasm) rows(l *listing) (rows [][]string) {
	blank := make([]string, len(d.Heads()))
	next := l.Line
	plain := func(text string) { rows = append(rows, append(slices.Clone(blank), text)) }
	for k := range l.insts {
		in := &l.insts[k]
		if in.File == l.File && next > 0 {
			for ; next <= in.Line && next <= min(l.until, len(l.lines)); next++ {
				text := clean(l.lines[next-1])
				for _, r := range l.remarks[next] {
					plain(indent(text) + "// " + remarkText(d.View, r, l.prices[next]))
				}
				for _, said := range l.calls[next] {
					plain(indent(text) + "// " + said)
				}
				plain(fmt.Sprintf("%5d. %s", next, text))
			}
		}
		c := l.costs[in.PC]
		var cells []string
		for _, col := range d.Columns {
			text, share := "0.", "0."
			if c != nil {
				text, share = d.Cell(col, c)
			}
			if cells = append(cells, text); col.Percent {
				cells = append(cells, share)
			}
		}
		rows = append(rows, append(cells, fmt.Sprintf("    [%s] %x: %s", l.place(in), in.PC, show.Name(in.Text))))
	}
	return rows
}

// place returns the line of an instruction, with its file where that is another one.
func (l *listing) place(in *symbols.Inst) string {
	switch {
	case in.Line == 0:
		return "?"
	case in.File == l.File:
		return strconv.Itoa(in.Line)
	}
	return in.File[strings.LastIndexAny(in.File, `/\`)+1:] + ":" + strconv.Itoa(in.Line)
}

func (d *disasm) csv(w io.Writer) error {
	return profile.WriteCSV(w, d.ExactHeads([]string{"function", "address", "file", "line", "instruction"}, "exclusive", "inclusive"), func(yield func([]string) bool) {
		for in := range d.instructions() {
			if !yield(d.ExactCells([]string{in.Function, in.Address, in.File, strconv.Itoa(in.Line), in.Text}, in.Exclusive, in.Inclusive)) {
				return
			}
		}
	})
}

// disasmDocument is the document of disasm --json.
type disasmDocument struct {
	profile.About
	Instructions report.List[instJSON] `json:"instructions"`
}

type instJSON struct {
	Function  string           `json:"function" says:"the linker's name"`
	Address   string           `json:"address" says:"in the executable, hexadecimal"`
	File      string           `json:"file"`
	Line      int              `json:"line" unit:"line" says:"0: not known"`
	Text      string           `json:"text" says:"in Go's syntax"`
	Exclusive map[string]int64 `json:"exclusive" unit:"as the metric" says:"those that are not 0; 'exclusive' is null where the instruction is not in the data"`
	Inclusive map[string]int64 `json:"inclusive" unit:"as the metric" says:"as 'exclusive'"`
	AtLeast   []string         `json:"at_least,omitempty" says:"metrics whose inclusive values may be more: stacks without it were cut off"`
}

func (d *disasm) instructions() func(yield func(instJSON) bool) {
	return func(yield func(instJSON) bool) {
		for i := range d.funcs {
			l := &d.funcs[i]
			for k := range l.insts {
				in := &l.insts[k]
				x := instJSON{Function: l.Name, Address: strconv.FormatUint(in.PC, 16), File: in.File, Line: in.Line, Text: in.Text}
				if c := l.costs[in.PC]; c != nil {
					x.Exclusive, x.Inclusive, x.AtLeast = d.Values(c.Excl), d.Values(c.Incl), d.AtLeast(c)
				}
				if !yield(x) {
					return
				}
			}
		}
	}
}

func (d *disasm) document() *disasmDocument {
	about := d.About()
	about.Notes = append(about.Notes, d.code.head(d.notes...)...)
	return &disasmDocument{about, d.instructions()}
}
