package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// edge is a function, and the part of another function's inclusive metrics that belongs to the
// calls between the two. For the other function itself it is the exclusive metrics.
type edge struct {
	Name       string `json:"name" says:"'<Total>': the caller of the outermost functions"`
	Attributed Values `json:"attributed" unit:"as the metric" says:"by metric, those that are not 0; if 'function.at_least' has the metric, lower bounds"`
	Costs
}

// neighbour is a row: a caller or a callee, or the function itself.
type neighbour struct {
	edge
	Compiler string `json:"compiler" zero:"" says:"with '--commentary' the compiler's treatment of the calls between the two; '\"\"': not known"`

	Role string `json:"-" head:"role"`
}

var neighbours = report.Table{Row: neighbour{}, What: "function", All: true, Text: "attributed, metrics, name, compiler", CSV: "role, name, exact, at_least"}

// callersDocument is the document of callers --json. The attributed values of the callers add up to
// the function's inclusive ones; so do those of the callees and its exclusive ones.
type callersDocument struct {
	About
	Function edge                   `json:"function"`
	Aliases  []string               `json:"aliases" says:"the function's other names; 'function.name' is the last in alphabetical order"`
	Callers  report.List[neighbour] `json:"callers"`
	Callees  report.List[neighbour] `json:"callees"`
}

// callers is the content of the callers report.
type callers struct {
	*View
	table            report.Table
	notes            []string
	callers, callees []neighbour
	itself           neighbour
}

// Callers shows the callers and the callees of a function, with the attributed metrics, and the
// remarks that said returns for the calls between two functions; said may be nil. Notes precede the
// table.
func Callers(v *View, function string, said func(caller, callee string) string, notes ...string) (*Report, error) {
	x, err := callersOf(v.Profile, function)
	if err != nil {
		return nil, err
	}
	if said == nil {
		said = func(string, string) string { return "" }
	}
	c := &callers{View: v, table: neighbours, notes: notes}
	row := func(e callgraph.Edge, role, said string) neighbour {
		return neighbour{edge{e.Func, Values{v.Profile, e.Attr}, v.Costs(e.Cost)}, said, role}
	}
	c.callers = report.RowsOf(x.Callers, func(e callgraph.Edge) neighbour { return row(e, "caller", said(e.Func, x.Func)) })
	c.callees = report.RowsOf(x.Callees, func(e callgraph.Edge) neighbour { return row(e, "callee", said(x.Func, e.Func)) })
	for _, list := range [][]neighbour{c.callers, c.callees} {
		slices.SortStableFunc(list, func(a, b neighbour) int {
			return cmp.Compare(callgraph.Abs(b.Attributed.Of(v.Sort.Metric)), callgraph.Abs(a.Attributed.Of(v.Sort.Metric)))
		})
	}
	// Together with the callees' values, the function's exclusive ones are all of its inclusive
	// metrics.
	own := x.Cost.Excl
	if x.Func == samples.TotalName {
		own = make([]int64, len(own))
	}
	c.itself = row(callgraph.Edge{Func: x.Func, Attr: own, Cost: x.Cost}, "function", "")
	c.columns()
	return &Report{report.Report{Text: c.text, Document: &callersDocument{
		v.About(notes...), c.itself.edge, append([]string{}, v.Profile.Aliases[x.Func]...), report.All(c.callers), report.All(c.callees),
	}}, c.csv}, nil
}

// columns sets the columns of the table.
func (c *callers) columns() {
	var heads []string
	for _, m := range c.metrics() {
		heads = append(heads, "a."+c.Metrics[m].Name)
	}
	c.table.Groups = Groups[neighbour](c.View)
	c.table.Groups["attributed"] = report.GroupOf(heads, func(n neighbour) (cells []string) {
		for _, m := range c.metrics() {
			mark := ""
			if n.Role != c.itself.Role { // its exclusive values are not too small
				mark = c.mark(m, c.itself.Costs)
			}
			cells = append(cells, mark+c.Value(m, n.Attributed.Of(m)))
		}
		return cells
	})
	c.table.Groups["exact"] = exact(c.View, []string{"attributed", "exclusive", "inclusive"}, func(n neighbour) []Values {
		return []Values{n.Attributed, n.Exclusive, n.Inclusive}
	})
	c.table.Cells = report.CellsOf(map[string]func(neighbour) string{
		"name": func(n neighbour) string {
			if n.Role == c.itself.Role {
				return "*" + show.Name(n.Name)
			}
			return "  " + show.Name(n.Name)
		},
		"compiler": func(n neighbour) string {
			if n.Compiler == "" {
				return ""
			}
			return show.Name(n.Compiler)
		},
	})
}

// rows lists at most n callers, the function, and at most n callees.
func (c *callers) rows(shown func(int) int) []neighbour {
	return slices.Concat(c.callers[:shown(len(c.callers))], []neighbour{c.itself}, c.callees[:shown(len(c.callees))])
}

func (c *callers) text(b *report.Text) {
	c.Head(b, c.notes...)
	c.table.Write(b, c.rows(b.Shown))
	for _, x := range []struct {
		what string
		all  int
	}{{"more caller", len(c.callers)}, {"more callee", len(c.callees)}} {
		if left := x.all - b.Shown(x.all); left > 0 {
			fmt.Fprintf(b, "… and %s (-n 0 shows all)\n", show.Plural(int64(left), x.what))
		}
	}
	c.summary(b)
}

func (c *callers) csv(w io.Writer) error {
	return report.WriteCSV(&c.table, w, report.All(c.rows(func(n int) int { return n })))
}

// summary writes the function's other names, all metrics in which it has a value, and its source.
func (c *callers) summary(b *report.Text) {
	function := c.itself.Name
	if list := c.Profile.Aliases[function]; len(list) > 0 {
		fmt.Fprintf(b, "\n%s is also called %s\n", show.Name(function), show.Name(strings.Join(list, ", ")))
	}
	var all []int
	for m := range c.Metrics {
		if c.itself.Inclusive.Of(m) != 0 {
			all = append(all, m)
		}
	}
	if function == samples.TotalName || len(all) <= len(c.metrics()) { // the header has all metrics of <Total>; the table has all of these
		return
	}
	text := show.Name(function)
	if at := c.source(); at != "" {
		text += ", " + at
	}
	fmt.Fprintf(b, "\nall metrics of %s\n", text)
	for _, m := range all {
		if !slices.Contains(c.metrics(), m) { // the first lines have those
			c.whole(b, m)
		}
	}
	report.Grid(b, "", []string{"exclusive", "%", "inclusive", "%", "<metric"}, all, func(m int) []string {
		e, share := c.Cell(callgraph.Column{Metric: m}, c.itself.Costs)
		i, ishare := c.Cell(callgraph.Column{Metric: m, Inclusive: true}, c.itself.Costs)
		return []string{e, share, i, ishare, c.Metrics[m].Name}
	})
}

// source returns the place where the function begins; "" if its source or line is not known.
func (c *callers) source() string {
	for f := range c.Profile.Frames() {
		if f.Func == c.itself.Name && f.File != "" {
			return show.Place(f.File, f.Start)
		}
	}
	return ""
}
