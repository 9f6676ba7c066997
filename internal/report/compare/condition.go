package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/show"
)

// Condition is a test of a comparison: that a column of a name grew, or fell, by more than a limit.
type Condition struct {
	text    string
	names   glob.Filter
	column  string
	fell    bool
	percent bool    // of A's value
	limit   float64 // else in the column's unit
}

var conditionForm = regexp.MustCompile(`^(.+)\.([^.+-]+)([+-])(.+)$`)

// ParseCondition reads NAME.COLUMN+LIMIT or NAME.COLUMN-LIMIT. A limit is a percentage, a
// duration where the column is a time, else a number.
func ParseCondition(text string, v *report.View) (c Condition, err error) {
	parts := conditionForm.FindStringSubmatch(text)
	if parts == nil {
		return c, fmt.Errorf("%q: a condition is NAME.COLUMN+LIMIT or NAME.COLUMN-LIMIT, as f1.p99+10%% or f1.p99+5ms", text)
	}
	c = Condition{text: text, column: parts[2], fell: parts[3] == "-"}
	if c.names, err = glob.Parse(parts[1]); err != nil {
		return c, fmt.Errorf("%q: %w", text, err)
	}
	columns := columnsOf(v)
	i := slices.IndexFunc(columns, func(x column) bool { return x.Name == c.column })
	if i < 0 {
		return c, fmt.Errorf("%q: there is no column %s; there is %s", text, show.Name(c.column), strings.Join(Columns(v), ", "))
	}
	return c, c.parseLimit(parts[4], columns[i].Unit)
}

func (c *Condition) parseLimit(text string, unit report.Unit) (err error) {
	form, number := "10%, or a number as 100", text
	if number, c.percent = strings.CutSuffix(text, "%"); c.percent || !isTime(unit) {
		c.limit, err = strconv.ParseFloat(number, 64)
	} else {
		var d time.Duration
		d, err = time.ParseDuration(text)
		c.limit = float64(d)
	}
	if isTime(unit) {
		form = "10%, or a time as 5ms"
	}
	if err != nil || !(c.limit >= 0 && c.limit <= 1e18) || strings.HasPrefix(text, "+") {
		return fmt.Errorf("%q: a limit of %s is %s", c.text, c.column, form)
	}
	return nil
}

func isTime(u report.Unit) bool { return u == report.Nanoseconds || u == report.Nanoseconds+"/s" }

// Met returns a sentence with both values for each row that meets the condition. It returns an
// error if the condition matches no row that could be compared.
func (r *Result) Met(c Condition) (sentences []string, err error) {
	k := slices.IndexFunc(r.columns, func(x column) bool { return x.Name == c.column })
	known := runs.Intervals{}
	compared := false
	why := ""
	for _, x := range slices.Concat(r.rows, r.oneSide) {
		if !c.names.Match(x.name) && (x.nameB == "" || !c.names.Match(x.nameB)) {
			continue
		}
		cell := &x.cells[k]
		if why = r.incomparable(x, cell); why != "" {
			why = fmt.Sprintf("%s.%s %s", x.title(), c.column, why)
			continue
		}
		compared = true
		if c.holds(cell, known) {
			sentences = append(sentences, fmt.Sprintf("%s: %s.%s %s", c.text, x.title(), c.column, r.words(k, cell)))
		}
	}
	switch {
	case compared:
		return sentences, nil
	case why != "":
		return nil, fmt.Errorf("%q: not comparable: %s", c.text, why)
	}
	return nil, fmt.Errorf("%q: there is no such name; there is %s", c.text, r.names())
}

// incomparable explains why a cell can't be compared; "" if it can.
func (r *Result) incomparable(x *row, c *cell) string {
	switch {
	case x.runs[1] == 0:
		return "is only in A"
	case x.runs[0] == 0:
		return "is only in B"
	case len(c.a) == 0:
		return "is not known in A"
	case len(c.b) == 0:
		return "is not known in B"
	case r.several() && c.confidence == 0:
		return "is known for one run of a side only, so there is no interval"
	}
	return ""
}

// holds reports whether the condition holds for the whole interval, or for the difference of the
// medians if there is none.
func (c *Condition) holds(x *cell, known runs.Intervals) bool {
	bound := func(v float64) float64 {
		switch {
		case c.percent && c.fell:
			return v * (1 - c.limit/100)
		case c.percent:
			return v * (1 + c.limit/100)
		case c.fell:
			return v - c.limit
		}
		return v + c.limit
	}
	var from []float64
	for _, v := range x.a {
		from = append(from, bound(v))
	}
	low := middle(x.b) - bound(middle(x.a))
	high := low
	if x.confidence > 0 {
		low, high, _ = known.Of(from, x.b)
	}
	if c.fell {
		return high < 0
	}
	return low > 0
}

// namesShown is the number of names that an error lists.
const namesShown = 20

// names lists those that both sides have.
func (r *Result) names() string {
	var list []string
	for _, x := range r.rows {
		list = append(list, show.Name(x.name))
	}
	slices.Sort(list)
	switch left := len(list) - namesShown; {
	case list == nil:
		return "none on both sides"
	case left > 0:
		list = append(list[:namesShown], fmt.Sprintf("… and %d more", left))
	}
	return strings.Join(list, ", ")
}
