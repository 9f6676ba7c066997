package profile

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// tree is what Tree shows.
type tree struct {
	*View
	root  *callgraph.Node
	least float64
}

// Tree shows who called whom from <Total> on. What has less than the share least of the
// metric that one sorts by is left out of the text.
func Tree(v *View, least float64) *Report {
	t := &tree{v, callgraph.Tree(v.Profile, v.Sort.Metric), least}
	return &Report{report.Report{Text: t.text, Document: t.document()}, t.csv}
}

// step is a node, and how deep it lies.
type step struct {
	*callgraph.Node
	depth int
}

// walk calls f with all nodes, parents first; f reports whether to go deeper. It does not
// recurse: stacks of a corrupt trace may be very deep.
func (t *tree) walk(f func(s step) bool) {
	for todo := []step{{t.root, 0}}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !f(s) {
			continue
		}
		for i := len(s.Children) - 1; i >= 0; i-- {
			todo = append(todo, step{s.Children[i], s.depth + 1})
		}
	}
}

// deepest bounds how far the text is moved to the right.
const deepest = 60

func (t *tree) text(b *report.Text) {
	t.Head(b)
	all := t.Whole(t.Sort.Metric)
	var rows []step
	small := 0
	t.walk(func(s step) bool {
		n := t.Profile.Value(s.Incl, t.Sort.Metric)
		nothing := n == 0 && t.Metrics[t.Sort.Metric].Whole == 0 // otherwise it may be two callees' sum
		if s.depth > 0 && (nothing || math.Abs(float64(n)) < t.least*float64(all)) {
			small++
			return false
		}
		rows = append(rows, s)
		return true
	})
	report.Grid(b, "function", append(t.Heads(), "<function"), rows, func(s step) []string {
		indent := strings.Repeat("  ", min(s.depth, deepest))
		if s.depth > deepest {
			indent += fmt.Sprintf("(%d) ", s.depth)
		}
		return append(t.cells(s.Cost()), indent+show.Name(s.Func))
	})
	if small > 0 {
		fmt.Fprintf(b, "%s of less than %s left out (--least 0 shows all)\n", show.Plural(int64(small), "call"), show.Percent(t.least))
	}
}

func (t *tree) csv(w io.Writer) error {
	return WriteCSV(w, append(t.ExactHeads([]string{"depth", "name"}, "exclusive", "inclusive"), least), func(yield func([]string) bool) {
		more := true
		t.walk(func(s step) bool {
			more = more && yield(append(t.ExactCells([]string{strconv.Itoa(s.depth), s.Func}, t.Values(s.Excl), t.Values(s.Incl)), t.leastCell(s.Cost())))
			return more
		})
	})
}

// treeDocument is the document of tree --json: its functions, parents first.
type treeDocument struct {
	About
	Functions report.List[nodeJSON] `json:"functions"`
}

type nodeJSON struct {
	Depth     int              `json:"depth" unit:"calls" says:"below '<Total>', which has 0; the caller is the last one before with one less"`
	Name      string           `json:"name"`
	Exclusive map[string]int64 `json:"exclusive" unit:"as the metric" says:"on this way from '<Total>'; those that are not 0"`
	Inclusive map[string]int64 `json:"inclusive" unit:"as the metric"`
	AtLeast   []string         `json:"at_least,omitempty" says:"metrics whose inclusive values may be more: stacks without it were cut off"`
}

func (t *tree) document() *treeDocument {
	return &treeDocument{t.About(), func(yield func(nodeJSON) bool) {
		more := true
		t.walk(func(s step) bool {
			more = more && yield(nodeJSON{s.depth, s.Func, t.Values(s.Excl), t.Values(s.Incl), t.AtLeast(s.Cost())})
			return more
		})
	}}
}
