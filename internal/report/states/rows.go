package states

import (
	"encoding/json"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
)

// Times has the time in each state. In documents the key is the state's name; states without time
// are included.
type Times analysis.StateTimes

// MarshalJSON implements json.Marshaler.
func (t Times) MarshalJSON() ([]byte, error) {
	m := make(map[string]int64, states.Count)
	for s, d := range t {
		m[states.Names[s]] = d
	}
	return json.Marshal(m)
}

// group is a row: the scopes of a name, the goroutines of a track or a site, or a goroutine.
type group struct {
	Name      string `json:"name" says:"of the scopes, the row, the site; of a goroutine its row's"`
	Goroutine uint64 `json:"goroutine,omitempty" unit:"number" says:"by goroutine"`
	Count     int64  `json:"count" unit:"count" compare:"grows" says:"scopes, or goroutines"`
	Total     int64  `json:"total_ns" unit:"ns" compare:"grows worse" says:"their sum"`
	States    Times  `json:"states_ns" unit:"ns" says:"each state"`
	Self      *Times `json:"self_ns,omitempty" unit:"ns" says:"by name: each state, without the scopes inside"`

	Mean float64 `json:"-" head:"mean" unit:"ns" compare:"worse"`
	rest bool    // of rows without a name
}

func groupOf(g *analysis.StateGroup, by analysis.By) group {
	total := g.Total.Sum()
	x := group{Name: g.Text, Goroutine: g.Goid, Count: g.Count, Total: total, States: Times(g.Total), Mean: float64(total) / float64(g.Count), rest: g.Rest}
	if by == analysis.ByName {
		x.Self = (*Times)(&g.Self)
	}
	return x
}

var groups = report.Table{Row: group{}, What: "row", Compare: "mean, total, count"}

// table returns the table of the groups: the time of each, and the share of each state in it.
func (r *found) table() *report.Table {
	t := groups
	t.Text = string(r.by) + "=name, count, total, shares"
	if r.by == analysis.ByGoroutine {
		t.Text = "goroutine, track=name, life=total, shares"
	}
	t.Cells = report.CellsOf(map[string]func(group) string{
		"name":  r.title,
		"total": func(g group) string { return show.Duration(r.times(g).Sum()) },
	})
	t.Groups = map[string]report.Group{"shares": report.GroupOf(states.Names[:], func(g group) []string { return shares(r.times(g)) })}
	return &t
}

// times returns the times of a group that are shown.
func (r *found) times(g group) *analysis.StateTimes {
	if r.self {
		return (*analysis.StateTimes)(g.Self)
	}
	return (*analysis.StateTimes)(&g.States)
}

// title returns a group's name for people.
func (r *found) title(g group) string {
	switch {
	case r.by == analysis.ByGoroutine:
		return report.Name(g.Name)
	case g.rest && r.by == analysis.BySite:
		return "(created before the recording)"
	case g.rest:
		return "(rows without a name)"
	case r.by == analysis.BySite:
		return show.Name(g.Name)
	}
	return report.Name(g.Name)
}

// shares formats the shares of the states; a state without time has an empty cell.
func shares(t *analysis.StateTimes) []string {
	cells := make([]string, states.Count)
	all := t.Sum()
	for i, d := range t {
		if d > 0 {
			cells[i] = show.Percent(float64(d) / float64(all))
		}
	}
	return cells
}
