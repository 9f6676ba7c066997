package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// ErrNoFunction says that there is no such function in the data, or more than one.
var ErrNoFunction = errors.New("function not found")

// FindFunction returns the whole name of the one function that name means: that name, or the
// end of one behind a dot or a slash. Of several the error lists the first.
func FindFunction(costs map[string]*callgraph.Cost, name string) (string, error) {
	if costs[name] != nil || name == samples.TotalName {
		return name, nil
	}
	var found []string
	for f := range costs {
		if Means(f, name) {
			found = append(found, f)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if len(costs) == 0 {
			return "", fmt.Errorf("%w: there are no samples and no waits, so none in a function %q", ErrNoFunction, name)
		}
		return "", fmt.Errorf("%w: no sample is in a function %q; scopeview functions lists all that are, and <Total> is the caller of all", ErrNoFunction, name)
	}
	return "", fmt.Errorf("%w: %q may be %s; give more of the name", ErrNoFunction, name, report.First(found, func(s string) string { return s }))
}

// Means reports whether name may mean a function: it is its name, or the end behind a dot or a
// slash, with or without the file that tells functions of one name apart.
func Means(function, name string) bool {
	whole := function
	if i := strings.LastIndex(function, " ("); i > 0 && strings.HasSuffix(function, ")") && !strings.Contains(name, " (") {
		whole = function[:i]
	}
	for _, f := range []string{whole, strings.TrimSuffix(whole, "[...]")} {
		if f == name || strings.HasSuffix(f, "."+name) || strings.HasSuffix(f, "/"+name) {
			return true
		}
	}
	return false
}

// callers is what Callers shows.
type callers struct {
	*View
	*callgraph.Callers
	said  func(caller, callee string) string
	notes []string
}

// Callers shows who calls a function, and whom it calls, with the attributed metrics, and what
// is said of the calls between two functions; said is nil when nobody asked. Notes stand above.
func Callers(v *View, function string, said func(caller, callee string) string, notes ...string) (*Report, error) {
	costs := callgraph.Sum(v.Profile, func(f *samples.Frame) string { return f.Func })
	name, err := FindFunction(costs, function)
	if err != nil {
		return nil, err
	}
	c := &callers{v, callgraph.CallersOf(v.Profile, costs, name), said, notes}
	for _, list := range [][]callgraph.Edge{c.Callers.Callers, c.Callees} {
		slices.SortStableFunc(list, func(a, b callgraph.Edge) int {
			return cmp.Compare(callgraph.Abs(v.Profile.Value(b.Attr, v.Sort.Metric)), callgraph.Abs(v.Profile.Value(a.Attr, v.Sort.Metric)))
		})
	}
	return &Report{report.Report{Text: c.text, Document: c.document()}, c.csv}, nil
}

func (c *callers) text(b *report.Text) {
	c.Head(b, c.notes...)
	var heads []string
	for _, m := range c.metrics() {
		heads = append(heads, "a."+c.Metrics[m].Name)
	}
	if heads = append(append(heads, c.Heads()...), "<function"); c.said != nil {
		heads = append(heads, "<compiler")
	}
	var rows [][]string
	add := func(attr []int64, cost *callgraph.Cost, neighbour bool, name, said string) {
		cells := c.row(attr, cost, name, neighbour)
		if said != "" {
			cells = append(cells, show.Name(said))
		} else if c.said != nil {
			cells = append(cells, "")
		}
		rows = append(rows, cells)
	}
	for _, e := range c.Callers.Callers[:b.Shown(len(c.Callers.Callers))] {
		add(e.Attr, e.Cost, true, "  "+show.Name(e.Func), c.between(e.Func, c.Func))
	}
	add(c.own(), c.Cost, false, "*"+show.Name(c.Func), "")
	for _, e := range c.Callees[:b.Shown(len(c.Callees))] {
		add(e.Attr, e.Cost, true, "  "+show.Name(e.Func), c.between(c.Func, e.Func))
	}
	report.Grid(b, "", heads, rows, func(r []string) []string { return r })
	for _, x := range []struct {
		what string
		list []callgraph.Edge
	}{{"more caller", c.Callers.Callers}, {"more callee", c.Callees}} {
		if left := len(x.list) - b.Shown(len(x.list)); left > 0 {
			fmt.Fprintf(b, "… and %s (-n 0 shows all)\n", show.Plural(int64(left), x.what))
		}
	}
	c.summary(b)
}

// between returns what is said of the calls between two functions; "": nothing.
func (c *callers) between(caller, callee string) string {
	if c.said == nil {
		return ""
	}
	return c.said(caller, callee)
}

// summary writes the function's other names, all metrics that it has anything of, and its source.
func (c *callers) summary(b *report.Text) {
	if list := c.Profile.Aliases[c.Func]; len(list) > 0 {
		fmt.Fprintf(b, "\n%s is also called %s\n", show.Name(c.Func), show.Name(strings.Join(list, ", ")))
	}
	var all []callgraph.Column
	for m := range c.Metrics {
		if x := (callgraph.Column{Inclusive: true, Metric: m, Percent: true}); x.Of(c.Profile, c.Cost) != 0 {
			all = append(all, x)
		}
	}
	if c.Func == samples.TotalName || len(all) <= len(c.metrics()) { // header has those of all; the table has these
		return
	}
	text := show.Name(c.Func)
	if at := c.source(); at != "" {
		text += ", " + at
	}
	fmt.Fprintf(b, "\nall metrics of %s\n", text)
	for _, x := range all {
		if !slices.Contains(c.metrics(), x.Metric) { // the first lines say it of those
			c.whole(b, x.Metric)
		}
	}
	report.Grid(b, "", []string{"exclusive", "%", "inclusive", "%", "<metric"}, all, func(i callgraph.Column) []string {
		e := callgraph.Column{Metric: i.Metric, Percent: true}
		return []string{
			c.Value(i.Metric, e.Of(c.Profile, c.Cost)), c.Share(e, c.Cost), c.least(c.Cost, i.Metric) + c.Value(i.Metric, i.Of(c.Profile, c.Cost)), c.least(c.Cost, i.Metric) + c.Share(i, c.Cost), c.Metrics[i.Metric].Name,
		}
	})
}

// source returns where the function begins, if its source and line are known; "": they are not.
func (c *callers) source() string {
	for i := range c.Profile.Stacks {
		for _, f := range c.Profile.Stacks[i].Frames {
			if f.Func == c.Func && f.File != "" {
				return place(f.File, f.Start)
			}
		}
	}
	return ""
}

// own is what the function itself has of its inclusive metrics: with those of its callees it
// is all of them.
func (c *callers) own() []int64 {
	if c.Func == samples.TotalName {
		return make([]int64, len(c.Cost.Excl))
	}
	return c.Cost.Excl
}

// row shows the cells of a neighbour, or of the function itself: what that has of itself is not
// too small.
func (c *callers) row(attr []int64, cost *callgraph.Cost, name string, neighbour bool) (cells []string) {
	for _, m := range c.metrics() {
		mark := ""
		if neighbour {
			mark = c.least(c.Cost, m)
		}
		cells = append(cells, mark+c.Value(m, c.Profile.Value(attr, m)))
	}
	return append(append(cells, c.cells(cost)...), name)
}

func (c *callers) csv(w io.Writer) error {
	return WriteCSV(w, append(c.ExactHeads([]string{"role", "name"}, "attributed", "exclusive", "inclusive"), least), func(yield func([]string) bool) {
		write := func(role, name string, attr []int64, cost *callgraph.Cost) bool {
			return yield(append(c.ExactCells([]string{role, name}, c.Values(attr), c.Values(cost.Excl), c.Values(cost.Incl)), c.leastCell(cost)))
		}
		for _, e := range c.Callers.Callers {
			if !write("caller", e.Func, e.Attr, e.Cost) {
				return
			}
		}
		if !write("function", c.Func, c.own(), c.Cost) {
			return
		}
		for _, e := range c.Callees {
			if !write("callee", e.Func, e.Attr, e.Cost) {
				return
			}
		}
	})
}

// callersDocument is the document of callers --json. The attributed values of the callers
// add up to the function's inclusive ones; so do those of the callees with its own.
type callersDocument struct {
	About
	Function edgeJSON                   `json:"function"`
	Aliases  []string                   `json:"aliases" says:"the function's other names; 'function.name' is the last of all by the alphabet"`
	Callers  report.List[neighbourJSON] `json:"callers"`
	Callees  report.List[neighbourJSON] `json:"callees"`
}

type edgeJSON struct {
	Name       string           `json:"name" says:"'<Total>': the caller of all that nobody called"`
	Attributed map[string]int64 `json:"attributed" unit:"as the metric" says:"by metric, those that are not 0"`
	Exclusive  map[string]int64 `json:"exclusive" unit:"as the metric" says:"of the function itself"`
	Inclusive  map[string]int64 `json:"inclusive" unit:"as the metric"`
	AtLeast    []string         `json:"at_least,omitempty" says:"metrics whose inclusive values may be more: stacks without it were cut off; of the attributed ones, too"`
}

// neighbourJSON is a caller or a callee.
type neighbourJSON struct {
	edgeJSON
	Compiler string `json:"compiler" says:"with '--commentary' what the compiler did with the calls between the two; '\"\"': not known"`
}

func (c *callers) document() *callersDocument {
	edge := func(e callgraph.Edge) edgeJSON {
		return edgeJSON{e.Func, c.Values(e.Attr), c.Values(e.Cost.Excl), c.Values(e.Cost.Incl), c.AtLeast(e.Cost)}
	}
	about := c.About()
	about.Notes = append(about.Notes, c.notes...)
	return &callersDocument{about, edge(callgraph.Edge{Func: c.Func, Attr: c.own(), Cost: c.Cost}), append([]string{}, c.Profile.Aliases[c.Func]...),
		report.ListOf(c.Callers.Callers, func(e callgraph.Edge) neighbourJSON { return neighbourJSON{edge(e), c.between(e.Func, c.Func)} }),
		report.ListOf(c.Callees, func(e callgraph.Edge) neighbourJSON { return neighbourJSON{edge(e), c.between(c.Func, e.Func)} })}
}

// base is the last element of a path of any system.
func base(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}
