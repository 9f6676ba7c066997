package advice

import (
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// place is a line of code that a change would affect: the rows that are created or used
// there, with any call stack.
type place struct {
	*Row
	rows []*Row
}

// places groups rows by the place of a change. hidden counts those within the standard
// library, which the reader of advice can't change.
func places(d *Data, p Params) (all []*place, hidden int) {
	by := map[string]*place{}
	for _, r := range d.Rows {
		if !p.Std && r.within() {
			hidden++
			continue
		}
		key := r.Kind.String() + "\t" + r.Type + "\t"
		switch {
		case p.PerStack || len(r.Stack) == 0:
			key += strings.Join(r.Stack, "\t")
		default:
			inner, _, _ := strings.Cut(r.Stack[0], " ")
			key += inner + "\t" + r.Site()
		}
		at := by[key]
		if at == nil {
			at = &place{Row: &Row{Row: row.Row{Kind: r.Kind, Type: r.Type, Stack: r.Stack}, NS: r.NS, CPU: r.CPU, root: r.root}}
			by[key] = at
			all = append(all, at)
		}
		at.rows = append(at.rows, r)
		at.Runs = max(at.Runs, r.Runs)
		at.Stats.Add(&r.Stats)
	}
	return all, hidden
}

// stack returns the call stack of the row with the largest gain by a rule.
func (at *place) stack(rule *Rule, w Weights) []string {
	if len(at.rows) == 1 {
		return at.rows[0].Stack
	}
	best, gain := at.rows[0], -1.0
	for _, r := range at.rows {
		if j := rule.Judge(r, w); j.Advice != "" && j.NS+j.Bytes > gain {
			best, gain = r, j.NS+j.Bytes
		}
	}
	return best.Stack
}

// within reports whether the standard library creates a slice or map for its own use. A
// buffer's array belongs to the user of the buffer.
func (r *Row) within() bool {
	return (r.Kind == row.Slice || r.Kind == row.Map) && r.library() && r.buffer() == ""
}
