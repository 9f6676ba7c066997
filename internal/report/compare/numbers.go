package compare

import (
	"math"
	"strings"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// number formats a value of a column; "-" if it is unknown.
func (r *Result) number(column int, v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	if v < 0 {
		return "-" + r.number(column, -v)
	}
	switch unit := r.columns[column].Unit; {
	case isTime(unit):
		return show.Duration(v)
	case unit == report.Share:
		return show.Percent(v)
	case unit == report.Ratio:
		return show.Ratio(v)
	case v >= 1000:
		return show.Count(v)
	}
	return show.Number(v)
}

// signed formats a difference of a column's values. Differences of shares are in percentage points,
// because a percentage would look like a part of A's.
func (r *Result) signed(column int, v float64) string {
	text := r.number(column, v)
	if v > 0 {
		text = "+" + text
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		return share + "pp"
	}
	return text
}

// difference formats the difference; ~ if the runs can't show one.
func (r *Result) difference(column int, c *cell) string {
	if c.unsure() {
		return "~"
	}
	return r.signed(column, c.difference())
}

func (r *Result) interval(column int, c *cell) string {
	return r.signed(column, c.low) + " … " + r.signed(column, c.high)
}

// change formats the change of a column: in percent or, if A has 0, the new value. It returns "" if
// neither side has anything.
func (r *Result) change(column int, c *cell) string {
	switch q, ok := c.ratio(); {
	case len(c.a) == 0 && len(c.b) == 0, c.both() && middle(c.a) == 0 && middle(c.b) == 0:
		return ""
	case len(c.a) == 0:
		return "- → " + r.number(column, middle(c.b))
	case len(c.b) == 0:
		return r.number(column, middle(c.a)) + " → -"
	case c.unsure():
		return "~"
	case !ok:
		return "0 → " + r.number(column, middle(c.b))
	case q == 1:
		return "="
	case c.lengths:
		return "lengths"
	case r.columns[column].share:
		return r.number(column, middle(c.a)) + " → " + r.number(column, middle(c.b))
	default:
		return show.Growth(q)
	}
}

// words describes both values of a cell.
func (r *Result) words(column int, c *cell) string {
	text := "is " + r.number(column, middle(c.b)) + ", was " + r.number(column, middle(c.a))
	if q, ok := c.ratio(); ok {
		text += " (" + show.Growth(q) + ")"
	}
	if c.confidence > 0 {
		text += "; difference " + r.interval(column, c) + " with " + show.Percent(c.confidence) + " confidence"
	}
	return text
}

// mark colours deteriorations red.
func (r *Result) mark(b *report.Text, column int, c *cell, text string) string {
	if r.columns[column].Worse && c.differs() && c.difference() > 0 {
		return b.Red(text)
	}
	return text
}
