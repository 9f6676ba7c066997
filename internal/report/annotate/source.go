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

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// source is the content of the source report.
type source struct {
	*profile.View
	*file
	code  *Code
	shown extent
	// owners holds the functions that have code of a line; nil: not known.
	owners map[int][]string
	most   int64 // the largest value of a line in the column sorted by
	notes  []string
}

// line is a row.
type line struct {
	Line int    `json:"line" unit:"line"`
	Text string `json:"text"`
	Code *bool  `json:"code" says:"it has instructions; null: not known"`
	Hot  bool   `json:"hot" says:"its value is close to that of the hottest line"`
	profile.Costs
	Remarks []string `json:"remarks" says:"where it was inlined; with '--commentary' the compiler's remarks, with the cost, also on hot calls"`
}

// sourceDocument is the document of source --json.
type sourceDocument struct {
	profile.About
	File  string            `json:"file" says:"as the compiler was given it"`
	Path  string            `json:"path" says:"where it was found; empty: not found"`
	Lines report.List[line] `json:"lines"`
}

// Source shows the lines of a function, or of a file, with the cost of each, wherever they were
// inlined.
func Source(ctx context.Context, v *profile.View, code *Code, what string) (*profile.Report, error) {
	s := &source{View: v, code: code}
	name, at, err := s.find(what)
	if err != nil {
		return nil, err
	}
	if s.file, err = code.read(name); err != nil {
		var none *symbols.NoSourceError
		if !errors.As(err, &none) {
			return nil, err
		}
		s.notes = append(s.notes, err.Error())
	}
	s.costs = code.lineCosts(v, name)
	if code.Binary != nil {
		s.owners = code.Binary.Owners(name)
	}
	calls, err := code.HotCalls(ctx, v.Profile)
	if problem := code.comment(ctx, s.file, calls); problem != "" {
		s.notes = append(s.notes, problem)
	}
	if err != nil {
		s.notes = append(s.notes, err.Error())
	}
	s.notes = code.head(s.notes...)
	s.extent(at)
	for n, c := range s.costs {
		if n > 0 {
			s.most = max(s.most, c.Of(v.Sort))
		}
	}
	d := &sourceDocument{v.About(s.notes...), name, s.path, report.ListOf(s.list(), s.line)}
	table := report.Table{Row: line{}, CSV: "line, code, source=text, exact", Groups: profile.Groups[line](v)}
	return &profile.Report{
		Report: report.Report{Text: s.text, Document: d},
		CSV:    func(w io.Writer) error { return report.WriteCSV(&table, w, d.Lines) },
	}, nil
}

// find finds the file that what names and, for a function, one of its lines; 0: the whole file.
func (s *source) find(what string) (file string, line int, err error) {
	files := map[string]bool{}
	for f := range s.Frames() {
		if f.File != "" && same(f.File, what) {
			files[f.File] = true
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
	switch {
	case files[what]:
		return what, 0, nil
	case len(list) == 1:
		return list[0], 0, nil
	case len(list) > 1:
		return "", 0, fmt.Errorf("%q may be %s; give more of the path", what, report.First(list, func(f string) string { return f }))
	}
	return s.findFunction(what)
}

// findFunction finds a function in the data, or else in the executable.
func (s *source) findFunction(what string) (file string, line int, err error) {
	name, err := profile.FindFunction(s.Profile, what)
	if s.code.Binary != nil {
		if list := s.code.Binary.Find(symbol(s.Profile, cmp.Or(name, what))); len(list) > 0 {
			return list[0].File, max(list[0].Line, 1), nil
		}
	}
	if err != nil {
		return "", 0, err
	}
	for f := range s.Frames() {
		if f.Func == name && f.File != "" {
			file, line = f.File, max(line, f.Line)
		}
	}
	if file == "" {
		return "", 0, fmt.Errorf("the file of %s is not known", name)
	}
	return file, max(line, 1), nil
}

// extent sets the lines to show: those of the function around a line, or all.
func (s *source) extent(line int) {
	s.shown = extent{from: 1, to: len(s.lines)}
	if line == 0 {
		return
	}
	if x, ok := around(s.extents, line); ok {
		s.shown = x
	}
}

// list returns the lines to show: all, or, for a file that was not found, those with costs or
// remarks.
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

// line returns the row of a line.
func (s *source) line(n int) line {
	c := s.costs[n]
	l := line{Line: n, Costs: c, Remarks: append([]string{}, s.before(n)...)}
	l.Hot = s.most > 0 && float64(c.Of(s.Sort)) >= s.code.Hot*float64(s.most)
	if n > 0 && n <= len(s.lines) {
		l.Text = s.lines[n-1]
	}
	if s.owners != nil {
		code := len(s.owners[n]) > 0
		l.Code = &code
	}
	return l
}

// cells returns the marks of a line: blank if it has no code, "0." if its code is not in the data,
// "0.000" if it is but rounds to zero, else the value.
func (s *source) cells(l line) (cells []string) {
	for _, col := range s.Columns {
		value, share := "", ""
		switch {
		case l.InData():
			if value, share = s.Cell(col, l.Costs); l.Of(col) == 0 {
				value = "0"
				if s.Metrics[col.Metric].Unit == samples.Nanoseconds {
					value = "0.000"
				}
			}
		case l.Code != nil && *l.Code:
			value = "0."
		}
		if cells = append(cells, value); col.Percent {
			cells = append(cells, share)
		}
	}
	return cells
}

// copies returns the functions into which the function that begins on a line was inlined, and
// whether it also exists out of line.
func (s *source) copies(line int) (into []string, itself bool) {
	x, ok := around(s.extents, line)
	if !ok || x.from != line || s.owners == nil {
		return nil, false
	}
	seen := map[string]bool{}
	for n := x.from; n <= x.to; n++ {
		if e, _ := around(s.extents, n); e != x || x.literal && (n == x.from || n == x.to) {
			continue // it belongs to another function, or to that one too
		}
		for _, f := range s.owners[n] {
			seen[f] = true
		}
	}
	for f := range seen {
		own := slices.ContainsFunc(s.code.Binary.Find(f), func(g *symbols.Func) bool { return g.File == s.name && g.Line == x.from })
		if itself = itself || own; !own {
			into = append(into, f)
		}
	}
	slices.Sort(into)
	return into, itself
}

// before returns the remarks that precede a line: how the compiler treated it.
func (s *source) before(line int) (list []string) {
	if into, itself := s.copies(line); len(into) > 0 {
		text := "inlined here in " + show.Plural(int64(len(into)), "place") + ": " + report.First(into, symbols.PrintName)
		if itself {
			text += "; called out of line too"
		}
		list = append(list, show.Name(text))
	}
	return append(list, s.comments(s.View, line)...)
}

// sumRow names the row of samples without a line.
const sumRow = "<sum of all instructions without line numbers>"

func (s *source) text(b *report.Text) {
	s.Head(b, s.notes...)
	where := s.name
	if s.path != "" && s.path != s.name {
		where += ", from " + s.path
	}
	fmt.Fprintf(b, "%s\n\n", b.Bold(show.Name(where)))
	var rows [][]string
	add := func(mark string, cells []string, number, text string) {
		rows = append(rows, append(append([]string{mark}, cells...), number, text))
	}
	if sum := s.line(0); sum.InData() || len(s.owners[0]) > 0 {
		add("", s.cells(sum), "", sumRow)
	}
	blank := make([]string, len(s.Heads()))
	for _, n := range s.list() {
		l, mark := s.line(n), ""
		if l.Hot {
			mark = "##"
		}
		text := clean(l.Text)
		for _, remark := range l.Remarks {
			add("", blank, "", commentLine(text, remark))
		}
		add(mark, s.cells(l), strconv.Itoa(n), text)
	}
	report.Grid(b, "", append(append([]string{""}, s.Heads()...), "line", "<source"), rows, func(r []string) []string { return r })
}
