package profile

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// call is a row: a function on one path from <Total>.
type call struct {
	Depth int    `json:"depth" unit:"calls" says:"below '<Total>', which has 0; the caller is the last row before with one less"`
	Name  string `json:"name" says:"a function; its values are of this path from '<Total>'"`
	Costs
}

var calls = report.Table{Row: call{}, What: "function", Text: "metrics, name", CSV: "depth, name, exact, at_least", Cells: report.CellsOf(map[string]func(call) string{"name": call.indented})}

// treeDocument is the document of tree --json: its functions, parents first.
type treeDocument struct {
	About
	Functions report.List[call] `json:"functions"`
}

// tree shows the calls from <Total> on. The text leaves out calls with less than the share
// View.Least of the sort metric.
func tree(v *View) *Report {
	root, table := callgraph.Tree(v.Profile, v.Sort.Metric), calls
	table.Groups = Groups[call](v)
	d := &treeDocument{v.About(), func(yield func(call) bool) {
		more := true
		v.walk(root, func(n node) bool {
			more = more && yield(v.call(n))
			return more
		})
	}}
	text := func(b *report.Text) {
		v.Head(b)
		list, small := v.large(root)
		report.WriteRows(&table, b, list, v.call)
		if small > 0 {
			fmt.Fprintf(b, "%s of less than %s left out (--least 0 shows all)\n", show.Plural(small, "call"), show.Percent(v.Least))
		}
	}
	return &Report{report.Report{Text: text, Document: d}, func(w io.Writer) error { return report.WriteCSV(&table, w, d.Functions) }}
}

// node is a node of the tree; depth is the number of nodes above it.
type node struct {
	*callgraph.Node
	depth int
}

func (v *View) call(n node) call { return call{n.depth, n.Func, v.Costs(n.Cost())} }

// walk calls f with all nodes, parents first; f reports whether to go deeper. It does not
// recurse: stacks of a corrupt trace may be very deep.
func (v *View) walk(root *callgraph.Node, f func(node) bool) {
	for todo := []node{{root, 0}}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !f(n) {
			continue
		}
		for i := len(n.Children) - 1; i >= 0; i-- {
			todo = append(todo, node{n.Children[i], n.depth + 1})
		}
	}
}

// large returns the calls to show, and the number of the others, without those below them.
func (v *View) large(root *callgraph.Node) (list []node, small int64) {
	all := v.Whole(v.Sort.Metric)
	v.walk(root, func(c node) bool {
		n := v.call(c).Inclusive.Of(v.Sort.Metric)
		nothing := n == 0 && v.Metrics[v.Sort.Metric].Whole == 0 // otherwise it may be two callees' sum
		if c.depth > 0 && (nothing || math.Abs(float64(n)) < v.Least*float64(all)) {
			small++
			return false
		}
		list = append(list, c)
		return true
	})
	return list, small
}

// deepest bounds the indentation of the text, in calls.
const deepest = 60

func (c call) indented() string {
	indent := strings.Repeat("  ", min(c.Depth, deepest))
	if c.Depth > deepest {
		indent += fmt.Sprintf("(%d) ", c.Depth)
	}
	return indent + show.Name(c.Name)
}
