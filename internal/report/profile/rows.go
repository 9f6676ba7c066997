package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// key identifies a row.
type key struct {
	Name string `json:"name" says:"the function, the object, the goroutine's row"`
	File string `json:"file,omitempty" says:"of lines"`
	Line int    `json:"line,omitempty" unit:"line" says:"of lines"`
	ID   uint64 `json:"id,omitempty" unit:"number" says:"of a goroutine or a thread"`
}

// row is a key and its costs.
type row struct {
	key
	Costs
	total bool // the row is <Total>
}

var rows = report.Table{Row: row{}, Text: "metrics, name", CSV: "name, file, line, id, exact, at_least"}

// rowsShown is the content of Kind.rows.
type rowsShown struct {
	*View
	table   report.Table
	rows    []row
	slowest *slowest // nil: not requested
}

// rows shows one row per key, sorted, <Total> first.
func (k *Kind) rows(v *View) *Report {
	t := &rowsShown{View: v, table: rows}
	if v.Executions.Slow > 0 {
		t.slowest, t.View = slowestOf(v)
	}
	program := cmp.Or(show.Base(v.Binary), theProgram)
	t.table.What, t.table.Groups = k.By, Groups[row](t.View)
	t.table.Cells = report.CellsOf(map[string]func(row) string{"name": func(r row) string {
		if r.total {
			return samples.TotalName
		}
		return show.Name(k.title(r.key))
	}})
	for k, c := range k.sum(t.Profile, program) {
		if r := (row{key: k, Costs: t.Costs(c)}); v.Names.Match(k.Name) && len(r.Exclusive.names())+len(r.Inclusive.names()) > 0 {
			t.rows = append(t.rows, r)
		}
	}
	slices.SortFunc(t.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(callgraph.Abs(b.Of(v.Sort)), callgraph.Abs(a.Of(v.Sort))), cmp.Compare(t.most(b), t.most(a)),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.ID, b.ID))
	})
	d := &document{About: t.About(), By: k.By, Rows: report.All(t.rows)}
	if t.slowest != nil {
		d.Slowest = t.slowest.document()
	}
	return &Report{report.Report{Text: t.text, Document: d}, func(w io.Writer) error { return report.WriteCSV(&t.table, w, d.Rows) }}
}

// sum sums up a profile by key.
func (k *Kind) sum(p *samples.Profile, program string) map[key]*callgraph.Cost {
	if k.label != nil {
		return callgraph.ByLabel(p, k.label)
	}
	return callgraph.Sum(p, func(f *symbols.Frame) key { return k.frame(program, f) })
}

// most returns the largest value of the columns. It orders rows that are equal in the sort column,
// which is 0 for many. It is 0 for rows that have only other metrics, which only documents and CSV
// show.
func (t *rowsShown) most(r row) (most int64) {
	for _, x := range t.Columns {
		most = max(most, callgraph.Abs(r.Of(x)))
	}
	return most
}

func (t *rowsShown) text(b *report.Text) {
	t.Head(b)
	if t.slowest != nil {
		t.slowest.text(b)
		fmt.Fprintf(b, "\nof the slow executions, by %s\n", t.table.What)
	}
	shown := []row{{Costs: t.total(), total: true}}
	for _, r := range t.rows {
		if t.most(r) != 0 {
			shown = append(shown, r)
		}
	}
	if len(shown) == 1 {
		b.WriteString("no samples\n")
		return
	}
	if b.Limit > 0 {
		b.Limit++ // <Total> does not count
		defer func() { b.Limit-- }()
	}
	t.table.Write(b, shown)
}

// document is the document of functions --json and of the other kinds with rows. Values are in the
// unit of their metric; zeros are left out.
type document struct {
	About
	By      string           `json:"by" says:"'function', 'line', 'object', 'goroutine', 'thread'"`
	Rows    report.List[row] `json:"rows"`
	Slowest *slowestDocument `json:"slowest,omitempty" says:"with '--slowest': 'rows' are those of the slow executions"`
}

// theProgram names the object of the program's own code where its executable is not known.
const theProgram = "the program"
