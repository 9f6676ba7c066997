package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// By is what a table has a row of.
type By string

// What tables can be made by.
const (
	Functions  By = "function"
	Lines      By = "line"
	Objects    By = "object"
	Goroutines By = "goroutine"
	Threads    By = "thread"
	Tracks     By = "track"
	Scopes     By = "scope"
)

// Split returns by what samples have to be kept apart for such a table.
func (by By) Split() samples.Split {
	return samples.Split{Goroutine: by == Goroutines, Thread: by == Threads, Row: by == Tracks || by == Goroutines, Scope: by == Scopes}
}

// key is what a row is of.
type key struct {
	name, file string
	line       int
	id         uint64
}

// row is a key and its costs.
type row struct {
	key
	*callgraph.Cost
}

// table is what Rows shows.
type table struct {
	*View
	by      By
	rows    []row
	slowest *slowest // nil: nobody asked
}

// Rows shows a row for each function, line, or what by says, sorted, <Total> first.
func Rows(v *View, by By) *Report {
	t := &table{View: v, by: by}
	if v.Executions.Slow > 0 {
		t.slowest, t.View = slowestOf(v)
	}
	for k, c := range t.sum() {
		if v.Names.Match(k.name) && len(t.Values(c.Excl))+len(t.Values(c.Incl)) > 0 {
			t.rows = append(t.rows, row{k, c})
		}
	}
	slices.SortFunc(t.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(callgraph.Abs(v.Sort.Of(t.Profile, b.Cost)), callgraph.Abs(v.Sort.Of(t.Profile, a.Cost))), cmp.Compare(t.most(b.Cost), t.most(a.Cost)),
			cmp.Compare(a.name, b.name), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.id, b.id))
	})
	return &Report{report.Report{Text: t.text, Document: t.document()}, t.csv}
}

// any reports whether there is something of a cost in a column. Where there is not, the row is of
// other metrics, which only documents and CSV have.
func (t *table) any(c *callgraph.Cost) bool {
	return slices.ContainsFunc(t.Columns, func(x callgraph.Column) bool { return x.Of(t.Profile, c) != 0 })
}

// most is the largest of the columns: what is sorted by it is 0 for many.
func (t *table) most(c *callgraph.Cost) (most int64) {
	for _, x := range t.Columns {
		most = max(most, callgraph.Abs(x.Of(t.Profile, c)))
	}
	return most
}

func (t *table) sum() map[key]*callgraph.Cost {
	switch t.by {
	case Functions:
		return callgraph.Sum(t.Profile, func(f *samples.Frame) key { return key{name: f.Func} })
	case Lines:
		return callgraph.Sum(t.Profile, func(f *samples.Frame) key { return key{name: f.Func, file: f.File, line: f.Line} })
	case Objects:
		return callgraph.Sum(t.Profile, func(f *samples.Frame) key { return key{name: cmp.Or(f.Object, t.program())} })
	}
	return callgraph.ByLabel(t.Profile, func(l *samples.Labels) key {
		switch t.by {
		case Goroutines:
			return key{name: l.Row, id: l.Goid}
		case Threads:
			return key{id: uint64(l.Thread)}
		case Tracks:
			return key{name: l.Row}
		}
		return key{name: l.Scope}
	})
}

// program names the program's own code.
func (t *table) program() string { return cmp.Or(base(t.Binary), "the program") }

// title returns what a row is of, for people.
func (t *table) title(k key) string {
	switch {
	case t.by == Lines:
		return show.Name(fmt.Sprintf("%s, %s", k.name, place(k.file, k.line)))
	case t.by == Goroutines && k.id == 0:
		return "none (the scheduler, the collector)"
	case t.by == Goroutines:
		return strings.TrimSpace(strconv.FormatUint(k.id, 10) + " " + name(k.name))
	case t.by == Threads && k.id == 0:
		return "not known"
	case t.by == Threads:
		return strconv.FormatUint(k.id, 10)
	case t.by == Tracks && k.name == "":
		return "(goroutines without a name)"
	case t.by == Scopes && k.name == "":
		return "(no scope)"
	}
	return show.Name(k.name)
}

// place shows a file without its directory, and a line.
func place(file string, line int) string {
	switch {
	case file == "":
		return "place not known"
	case line == 0:
		return base(file)
	}
	return base(file) + ":" + strconv.Itoa(line)
}

func (t *table) text(b *report.Text) {
	t.Head(b)
	if t.slowest != nil {
		t.slowest.text(b)
		fmt.Fprintf(b, "\nof the slow executions, by %s\n", t.by)
	}
	shown := slices.DeleteFunc(slices.Clone(t.rows), func(r row) bool { return !t.any(r.Cost) })
	if len(shown) == 0 {
		b.WriteString("no samples\n")
		return
	}
	rows := append([]row{{key{name: samples.TotalName}, t.total()}}, shown...)
	if b.Limit > 0 {
		b.Limit++ // <Total> is none of them
		defer func() { b.Limit-- }()
	}
	report.Grid(b, string(t.by), append(t.Heads(), "<"+string(t.by)), rows, func(r row) []string {
		if r.Cost == t.total() {
			return append(t.cells(r.Cost), samples.TotalName)
		}
		return append(t.cells(r.Cost), t.title(r.key))
	})
}

func (t *table) csv(w io.Writer) error {
	return WriteCSV(w, append(t.ExactHeads([]string{"name", "file", "line", "id"}, "exclusive", "inclusive"), least), func(yield func([]string) bool) {
		for _, r := range t.rows {
			cells := t.ExactCells([]string{r.name, r.file, strconv.Itoa(r.line), strconv.FormatUint(r.id, 10)}, t.Values(r.Excl), t.Values(r.Incl))
			if !yield(append(cells, t.leastCell(r.Cost))) {
				return
			}
		}
	})
}

// document is the document of functions --json, and of its neighbours. Values are in the
// unit of their metric; those that are 0 are left out.
type document struct {
	About
	By      string               `json:"by" says:"'function', 'line', 'object', 'goroutine', 'thread'"`
	Rows    report.List[rowJSON] `json:"rows"`
	Slowest *slowestJSON         `json:"slowest,omitempty" says:"with '--slowest': 'rows' are of the slow executions"`
}

type rowJSON struct {
	Name      string           `json:"name" says:"the function, the object, the goroutine's row"`
	File      string           `json:"file,omitempty" says:"of lines"`
	Line      int              `json:"line,omitempty" unit:"line" says:"of lines"`
	ID        uint64           `json:"id,omitempty" unit:"number" says:"of a goroutine or a thread"`
	Exclusive map[string]int64 `json:"exclusive" unit:"as the metric" says:"by metric, those that are not 0"`
	Inclusive map[string]int64 `json:"inclusive" unit:"as the metric" says:"by metric, those that are not 0"`
	AtLeast   []string         `json:"at_least,omitempty" says:"metrics whose inclusive values may be more: stacks without it were cut off"`
}

func (t *table) document() *document {
	d := &document{About: t.About(), By: string(t.by), Rows: report.ListOf(t.rows, func(r row) rowJSON {
		return rowJSON{r.name, r.file, r.line, r.id, t.Values(r.Excl), t.Values(r.Incl), t.AtLeast(r.Cost)}
	})}
	if t.slowest != nil {
		d.Slowest = t.slowest.document()
	}
	return d
}
