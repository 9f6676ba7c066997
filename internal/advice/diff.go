package advice

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/show"
)

// Change is the difference of a piece of advice between two reports.
type Change struct {
	Finding Finding `json:"finding"` // as it is now, or was
	Was     int64   `json:"was_ns" unit:"ns" says:"and before"`
	Now     int64   `json:"now_ns" unit:"ns" says:"that it would save in a run now"`
	WasB    int64   `json:"was_bytes" unit:"bytes" says:"and before"`
	NowB    int64   `json:"now_bytes" unit:"bytes" says:"that it would save in a run now"`
	What    string  `json:"what" says:"'worse', 'better'"`
}

// Values of Change.What.
const (
	Worse  = "worse"
	Better = "better"
)

// differs is the minimum factor between two gains for a change to be reported: runs of the
// same program differ by less than half.
const differs = 1.5

// Diff returns the advice that a change of the program made worse, and better: advice that
// is new, or has a larger gain; worst first. Reports must have all advice, not only the
// first.
func Diff(base, now *Report) (changes []Change) {
	sums := func(r *Report) map[string]*Finding {
		m := map[string]*Finding{}
		for _, f := range r.Findings {
			f.NS /= int64(max(r.Runs, 1))
			f.Bytes /= int64(max(r.Runs, 1))
			if x := m[f.key()]; x != nil { // same functions, other lines
				x.NS += f.NS
				x.Bytes += f.Bytes
				continue
			}
			m[f.key()] = &f
		}
		return m
	}
	was, is := sums(base), sums(now)
	for k, f := range is {
		c := Change{Finding: *f, Now: f.NS, NowB: f.Bytes}
		if o := was[k]; o != nil {
			c.Was, c.WasB = o.NS, o.Bytes
		}
		if c.decide() {
			changes = append(changes, c)
		}
	}
	for k, o := range was {
		if is[k] == nil {
			c := Change{Finding: *o, Was: o.NS, WasB: o.Bytes}
			if c.decide() {
				changes = append(changes, c)
			}
		}
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.What, a.What), cmp.Compare(math.Abs(float64(b.Now-b.Was)), math.Abs(float64(a.Now-a.Was))), cmp.Compare(a.Finding.key(), b.Finding.key()))
	})
	return changes
}

// decide sets What, and reports whether the gains differ enough.
func (c *Change) decide() bool {
	was, now := c.Was, c.Now
	if max(was, now) <= 0 {
		was, now = c.WasB, c.NowB
	}
	switch {
	case float64(now) > differs*float64(was):
		c.What = Worse
	case float64(was) > differs*float64(now):
		c.What = Better
	}
	return c.What != ""
}

// WriteDiff writes changes.
func WriteDiff(w io.Writer, changes []Change, dir string) error {
	if len(changes) == 0 {
		_, err := fmt.Fprintln(w, "nothing is worse or better")
		return err
	}
	for _, c := range changes {
		amount := fmt.Sprintf("%s, was %s", show.Duration(c.Now), show.Duration(c.Was))
		if max(c.Was, c.Now) <= 0 {
			amount = fmt.Sprintf("%s, was %s", show.Size(c.NowB), show.Size(c.WasB))
		}
		if _, err := fmt.Fprintf(w, "%s: %s: %s: costs %s: %s\n", Place(c.Finding.Site, dir), c.Finding.ID, c.What, amount, c.Finding.Advice); err != nil {
			return err
		}
	}
	return nil
}
