package query

import (
	"fmt"
	"math"
	"strings"

	"modernc.org/sqlite/vtab"
)

// conditions are those of a question's that a scan tests, so that SQLite need not see rows that
// fail them. SQLite tests all again: a scan may let rows pass that fail.
type conditions struct {
	used   uint64 // bit of each column that the question uses; the last is for all from 63 on
	ranges []bounds
	equal  []equality
}

// bounds limit a column of integers.
type bounds struct {
	column   int
	from, to int64
}

// equality requires a text.
type equality struct {
	column int
	text   string
}

// The operators of conditions, as they are written in a plan: a column and one of them.
const (
	opEqual   = '='
	opGreater = '>'
	opLess    = '<'
)

// operators are those that a scan can test. Strictly greater is taken for greater or equal.
var operators = map[vtab.ConstraintOp]byte{
	vtab.OpEQ: opEqual, vtab.OpGT: opGreater, vtab.OpGE: opGreater, vtab.OpLT: opLess, vtab.OpLE: opLess,
}

// planOf returns the plan for the constraints that can be tested, which it requests as arguments
// of the scan, and the estimated share of rows that pass.
func (t *table) planOf(info *vtab.IndexInfo) (plan string, share float64) {
	var b strings.Builder
	share = 1
	n := 0
	for i := range info.Constraints {
		c := &info.Constraints[i]
		op := operators[c.Op]
		if !c.Usable || op == 0 || c.Column < 0 || c.Column >= len(t.Columns) {
			continue
		}
		switch numeric := t.Columns[c.Column].Type == "INTEGER"; {
		case op == opEqual:
			share *= 0.05
		case numeric && c.Column == t.time:
			share *= 0.1
		case numeric:
			share *= 0.3
		default:
			continue
		}
		fmt.Fprintf(&b, "%d%c;", c.Column, op)
		c.ArgIndex = n
		n++
	}
	return b.String(), share
}

// conditionsOf returns the conditions of a plan with the arguments of a scan.
func (t *table) conditionsOf(used uint64, plan string, args []vtab.Value) *conditions {
	c := &conditions{used: used}
	for i, part := range strings.Split(strings.TrimSuffix(plan, ";"), ";") {
		var column int
		var op byte
		if n, _ := fmt.Sscanf(part, "%d%c", &column, &op); n != 2 || i >= len(args) {
			break
		}
		if t.Columns[column].Type == "TEXT" {
			if text, ok := args[i].(string); ok {
				c.equal = append(c.equal, equality{column, strings.Clone(text)})
			}
			continue
		}
		if t.Columns[column].Type == "INTEGER" {
			c.limit(column, op, args[i])
		}
	}
	return c
}

// limit adds a bound. Of a fraction the bound is the integer that lets more pass.
func (c *conditions) limit(column int, op byte, arg vtab.Value) {
	var least, most int64
	switch v := arg.(type) {
	case int64:
		least, most = v, v
	case float64:
		if !(math.Abs(v) < 1<<62) {
			return
		}
		least, most = int64(math.Floor(v)), int64(math.Ceil(v))
	default:
		return
	}
	b := c.rangeOf(column)
	if op != opLess {
		b.from = max(b.from, least)
	}
	if op != opGreater {
		b.to = min(b.to, most)
	}
}

// rangeOf returns the bounds of a column, which it adds if there are none.
func (c *conditions) rangeOf(column int) *bounds {
	for i := range c.ranges {
		if c.ranges[i].column == column {
			return &c.ranges[i]
		}
	}
	c.ranges = append(c.ranges, bounds{column, math.MinInt64, math.MaxInt64})
	return &c.ranges[len(c.ranges)-1]
}

// within returns the bounds of a column.
func (c *conditions) within(column int) (from, to int64) {
	for _, b := range c.ranges {
		if b.column == column {
			return b.from, b.to
		}
	}
	return math.MinInt64, math.MaxInt64
}

// uses reports whether the question uses a column.
func (c *conditions) uses(column int) bool { return c.used>>min(column, 63)&1 != 0 }

// is reports whether a text may equal the required one. The comparison may be without case, or
// without spaces at the end (COLLATE), which a scan is not informed of.
func (e *equality) is(text string) bool {
	return text == e.text || strings.EqualFold(strings.TrimRight(text, " "), strings.TrimRight(e.text, " "))
}
