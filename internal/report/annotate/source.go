package annotate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// source is what Source shows.
type source struct {
	*profile.View
	code  *Code
	file  string // as the compiler was given it
	path  string // here; "": not found
	lines []string
	shown extent
	costs map[int]*callgraph.Cost
	// owners has which functions have code of a line; nil: not known.
	owners  map[int][]string
	own     []extent
	remarks map[int][]symbols.Remark
	calls   map[int][]string // what is said of hot ones
	notes   []string
}

// Source shows the lines of a function, or of a file, with what each of them cost, wherever
// they were inlined.
func Source(ctx context.Context, v *profile.View, code *Code, what string) (*profile.Report, error) {
	s := &source{View: v, code: code}
	line, err := s.find(what)
	if err != nil {
		return nil, err
	}
	s.costs = code.lineCosts(v.Profile, s.file)
	if code.Binary != nil {
		s.owners = code.Binary.Owners(s.file)
	}
	if s.lines, s.path, err = code.Sources.Read(s.file); err != nil {
		var none *symbols.NoSourceError
		if !errors.As(err, &none) {
			return nil, err
		}
		s.notes = append(s.notes, err.Error())
	}
	s.own = extents(s.lines)
	s.extent(line)
	var problem string
	if s.remarks, problem = code.remarks(ctx, s.path); problem != "" {
		s.notes = append(s.notes, problem)
	}
	calls, err := code.HotCalls(ctx, v.Profile)
	if err != nil {
		s.notes = append(s.notes, err.Error())
	}
	s.calls = hotLines(calls, s.file)
	return &profile.Report{Report: report.Report{Text: s.text, Document: s.document()}, CSV: s.csv}, nil
}

// find finds out which file is meant and, of a function, a line of it; 0: all of the file.
func (s *source) find(what string) (line int, err error) {
	files := map[string]bool{}
	lines := map[string]map[string]int{} // of functions: a line by the file
	for i := range s.Stacks {
		for _, f := range s.Stacks[i].Frames {
			if f.File == "" {
				continue
			}
			if same(f.File, what) {
				files[f.File] = true
			}
			if lines[f.Func] == nil {
				lines[f.Func] = map[string]int{}
			}
			lines[f.Func][f.File] = max(lines[f.Func][f.File], f.Line)
		}
	}
	if s.code.Binary != nil {
		for _, f := range s.code.Binary.Funcs() {
			if same(f.File, what) {
				files[f.File] = true
			}
		}
	}
	list := slices.Sorted(maps.Keys(files))
	if len(list) == 1 || slices.Contains(list, what) {
		s.file = list[0]
		if slices.Contains(list, what) {
			s.file = what
		}
		return 0, nil
	}
	if len(list) > 1 {
		return 0, fmt.Errorf("%q may be %s; give more of the path", what, report.First(list, func(f string) string { return f }))
	}
	return s.findFunction(what, lines)
}

// findFunction finds a function, in the data or else in the executable.
func (s *source) findFunction(what string, lines map[string]map[string]int) (line int, err error) {
	costs := map[string]*callgraph.Cost{}
	for f := range lines {
		costs[f] = &callgraph.Cost{}
	}
	name, err := profile.FindFunction(costs, what)
	if s.code.Binary != nil {
		for _, f := range s.code.Binary.Find(symbol(s.Profile, cmp.Or(name, what))) {
			s.file = f.File
			return max(f.Line, 1), nil
		}
	}
	if err != nil {
		return 0, err
	}
	for file, n := range lines[name] {
		s.file, line = file, n
	}
	if s.file == "" {
		return 0, fmt.Errorf("the file of %s is not known", name)
	}
	return max(line, 1), nil
}

// extent finds out which lines are shown: those of the function around a line, or all.
func (s *source) extent(line int) {
	s.shown = extent{from: 1, to: len(s.lines)}
	if line == 0 {
		return
	}
	if x, ok := around(s.own, line); ok {
		s.shown = x
	}
}

// list returns the lines that are shown: all, or of a file that was not found those of which
// something is known.
func (s *source) list() (list []int) {
	if s.lines != nil {
		for n := s.shown.from; n <= s.shown.to; n++ {
			list = append(list, n)
		}
		return list
	}
	for n := range s.costs {
		if n > 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// cells returns the marks of a line: blank, where it has no code, "0.", where its code is not
// in the data, "0.000", where it is and has nothing that could be shown, or the value.
func (s *source) cells(line int) (cells []string) {
	c := s.costs[line]
	for _, col := range s.Columns {
		text := ""
		switch {
		case c != nil && col.Of(s.Profile, c) == 0 && s.Metrics[col.Metric].Unit == samples.Nanoseconds:
			text = "0.000"
		case c != nil && col.Of(s.Profile, c) == 0:
			text = "0"
		case c != nil:
			text, _ = s.Cell(col, c)
		case len(s.owners[line]) > 0:
			text = "0."
		}
		if cells = append(cells, text); col.Percent {
			share := ""
			if c != nil {
				_, share = s.Cell(col, c)
			}
			cells = append(cells, share)
		}
	}
	return cells
}

// isHot reports whether a line has much of what one sorts by.
func (s *source) isHot(line int, most int64) bool {
	c := s.costs[line]
	return c != nil && most > 0 && float64(s.Sort.Of(s.Profile, c)) >= s.code.Hot*float64(most)
}

// most is the most that a line has of what one sorts by.
func (s *source) most() (most int64) {
	for n, c := range s.costs {
		if n > 0 {
			most = max(most, s.Sort.Of(s.Profile, c))
		}
	}
	return most
}

// copies returns the functions that the function which begins on a line was inlined into, and
// whether it is there by itself too.
func (s *source) copies(line int) (into []string, itself bool) {
	x, ok := around(s.own, line)
	if !ok || x.from != line || s.owners == nil {
		return nil, false
	}
	seen := map[string]bool{}
	for n := x.from; n <= x.to; n++ {
		if e, _ := around(s.own, n); e != x || x.literal && (n == x.from || n == x.to) {
			continue // of another function, or of that too
		}
		for _, f := range s.owners[n] {
			seen[f] = true
		}
	}
	for f := range seen {
		own := slices.ContainsFunc(s.code.Binary.Find(f), func(g *symbols.Func) bool { return g.File == s.file && g.Line == x.from })
		if itself = itself || own; !own {
			into = append(into, f)
		}
	}
	slices.Sort(into)
	return into, itself
}

// before returns what stands before a line: what the compiler did with it.
func (s *source) before(line int) (list []string) {
	if into, itself := s.copies(line); len(into) > 0 {
		text := "inlined here in " + show.Plural(int64(len(into)), "place") + ": " + report.First(into, symbols.PrintName)
		if itself {
			text += "; called out of line too"
		}
		list = append(list, show.Name(text))
	}
	for _, r := range s.remarks[line] {
		list = append(list, remarkText(s.View, r, s.costs[line]))
	}
	return append(list, s.calls[line]...)
}

// sumRow is the name of what lines are not known of.
const sumRow = "<sum of all instructions without line numbers>"

func (s *source) text(b *report.Text) {
	s.Head(b, s.code.head(s.notes...)...)
	where := s.file
	if s.path != "" && s.path != s.file {
		where += ", from " + s.path
	}
	fmt.Fprintf(b, "%s\n\n", b.Bold(show.Name(where)))
	type row struct {
		cells []string
		hot   bool
	}
	var rows []row
	blank := make([]string, len(s.Heads()))
	if s.costs[0] != nil || len(s.owners[0]) > 0 {
		rows = append(rows, row{append(s.cells(0), "", sumRow), false})
	}
	most := s.most()
	for _, n := range s.list() {
		text := ""
		if n <= len(s.lines) {
			text = clean(s.lines[n-1])
		}
		for _, note := range s.before(n) {
			rows = append(rows, row{append(slices.Clone(blank), "", indent(text)+"// "+note), false})
		}
		rows = append(rows, row{append(s.cells(n), strconv.Itoa(n), text), s.isHot(n, most)})
	}
	report.Grid(b, "", append(append([]string{""}, s.Heads()...), "line", "<source"), rows, func(r row) []string {
		mark := ""
		if r.hot {
			mark = "##"
		}
		return append([]string{mark}, r.cells...)
	})
}

// clean returns a line of source without tabs, and safe to show.
func clean(line string) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	if len(line) > widest {
		line = line[:widest] + "…"
	}
	return show.Text(strings.ToValidUTF8(line, "?"))
}

// widest bounds what is shown of a line: generated sources have some of a megabyte.
const widest = 400

func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }

func (s *source) csv(w io.Writer) error {
	return profile.WriteCSV(w, s.ExactHeads([]string{"line", "code", "source"}, "exclusive", "inclusive"), func(yield func([]string) bool) {
		for _, n := range s.list() {
			l := s.line(n)
			cells := []string{strconv.Itoa(n), "", l.Text}
			if l.Code != nil {
				cells[1] = strconv.FormatBool(*l.Code)
			}
			if !yield(s.ExactCells(cells, l.Exclusive, l.Inclusive)) {
				return
			}
		}
	})
}

// sourceDocument is the document of source --json.
type sourceDocument struct {
	profile.About
	File  string                `json:"file" says:"as the compiler was given it"`
	Path  string                `json:"path" says:"where it was found; empty: it was not"`
	Lines report.List[lineJSON] `json:"lines"`
}

type lineJSON struct {
	Line      int              `json:"line" unit:"line"`
	Text      string           `json:"text"`
	Code      *bool            `json:"code" says:"some instruction is of it; null: not known"`
	Hot       bool             `json:"hot" says:"it has nearly as much as the hottest line"`
	Exclusive map[string]int64 `json:"exclusive" unit:"as the metric" says:"those that are not 0; 'exclusive' is null where the line is not in the data"`
	Inclusive map[string]int64 `json:"inclusive" unit:"as the metric" says:"as 'exclusive'"`
	AtLeast   []string         `json:"at_least,omitempty" says:"metrics whose inclusive values may be more: stacks without it were cut off"`
	Remarks   []string         `json:"remarks" says:"where it was inlined; with '--commentary' what the compiler did, with its price; and with hot calls"`
}

func (s *source) line(n int) lineJSON {
	l := lineJSON{Line: n, Remarks: append([]string{}, s.before(n)...), Hot: s.isHot(n, s.most())}
	if n <= len(s.lines) {
		l.Text = s.lines[n-1]
	}
	if c := s.costs[n]; c != nil {
		l.Exclusive, l.Inclusive, l.AtLeast = s.Values(c.Excl), s.Values(c.Incl), s.AtLeast(c)
	}
	if s.owners != nil {
		code := len(s.owners[n]) > 0
		l.Code = &code
	}
	return l
}

func (s *source) document() *sourceDocument {
	about := s.About()
	about.Notes = append(about.Notes, s.code.head(s.notes...)...)
	return &sourceDocument{about, s.file, s.path, report.ListOf(s.list(), s.line)}
}
