package query

import (
	"errors"
	"iter"
	"math"
	"strings"

	"modernc.org/sqlite/vtab"
)

// Table describes a table, or a view of one.
type Table struct {
	Name    string
	Says    string // a sentence
	Columns []Column
}

// Column describes a column.
type Column struct {
	Name, Type string
	Says       string // a sentence
}

// source is a table that is read from the trace.
type source struct {
	Table
	time int // the column that narrows the time; -1: none
	name int // likewise the name
	read func(d *DB, p *plan) iter.Seq[page]
}

// page has some rows.
type page struct {
	rows int
	cell func(row, column int) vtab.Value
}

// plan narrows what is read of a table.
type plan struct {
	from, to int64   // ns from the trace's start; to math.MaxInt64: no limit
	name     *string // nil: any
	used     uint64  // bits of the columns that are asked for
}

// uses reports whether a column is asked for. The last bit stands for all columns from it on.
func (p *plan) uses(column int) bool { return p.used&(1<<min(column, 63)) != 0 }

// module makes a source known to SQLite.
type module struct {
	d *DB
	*source
}

func (m *module) Create(c vtab.Context, args []string) (vtab.Table, error) {
	return m.Connect(c, args)
}

func (m *module) Connect(c vtab.Context, _ []string) (vtab.Table, error) {
	var columns []string
	for _, x := range m.Columns {
		columns = append(columns, quoted(x.Name)+" "+x.Type)
	}
	return m, c.Declare("CREATE TABLE x(" + strings.Join(columns, ", ") + ")")
}

func (m *module) Disconnect() error { return nil }
func (m *module) Destroy() error    { return nil }

// ops are the characters of a plan's text for comparisons, one for each argument: with a column of time or,
// for n, of names.
var ops = map[vtab.ConstraintOp]byte{vtab.OpEQ: '=', vtab.OpGT: '>', vtab.OpGE: '>', vtab.OpLT: '<', vtab.OpLE: '<'}

// BestIndex implements vtab.Table: comparisons of the time and the name are arguments of Filter.
func (m *module) BestIndex(info *vtab.IndexInfo) error {
	var text []byte
	cost := 1e7
	for i := range info.Constraints {
		c := &info.Constraints[i]
		c.ArgIndex = -1
		op := ops[c.Op]
		switch {
		case !c.Usable || op == 0:
			continue
		case c.Column == m.time && m.time >= 0:
		case c.Column == m.name && m.name >= 0 && op == '=':
			op = 'n'
		default:
			continue
		}
		c.ArgIndex = len(text)
		text = append(text, op)
		cost /= 10
	}
	// IdxNum has 32 bits, and no table more columns.
	info.IdxStr, info.IdxNum, info.EstimatedCost = string(text), int64(int32(info.ColUsed)), cost
	return nil
}

func (m *module) Open() (vtab.Cursor, error) { return &cursor{m: m}, nil }

// cursor reads the rows of a table.
type cursor struct {
	m     *module
	next  func() (page, bool)
	stop  func()
	page  page
	at    int // row of the page
	rowid int64
	over  bool
}

// Filter implements vtab.Cursor.
func (c *cursor) Filter(used int, text string, values []vtab.Value) error {
	c.Close()
	p := &plan{from: math.MinInt64, to: math.MaxInt64, used: uint64(uint32(used))}
	for i, op := range []byte(text) {
		if i >= len(values) {
			return errors.New("a condition has no value")
		}
		if op == 'n' {
			if name, ok := values[i].(string); ok {
				p.name = &name
			}
			continue
		}
		low, high, ok := bounds(values[i])
		if !ok {
			continue
		}
		if op != '<' {
			p.from = max(p.from, low)
		}
		if op != '>' {
			p.to = min(p.to, high)
		}
	}
	c.next, c.stop = iter.Pull(c.m.read(c.m.d, p))
	c.page, c.at, c.rowid, c.over = page{}, -1, 0, false
	return c.Next()
}

// bounds returns the whole numbers around a value.
func bounds(v vtab.Value) (low, high int64, ok bool) {
	switch x := v.(type) {
	case int64:
		return x, x, true
	case float64:
		if math.Abs(x) < 1<<53 {
			return int64(math.Floor(x)), int64(math.Ceil(x)), true
		}
	}
	return 0, 0, false
}

// Next implements vtab.Cursor.
func (c *cursor) Next() error {
	c.rowid++
	for c.at++; c.at >= c.page.rows; c.at = 0 {
		var ok bool
		if c.page, ok = c.next(); !ok {
			c.over = true
			return c.m.d.asked.Err()
		}
	}
	return nil
}

func (c *cursor) Eof() bool { return c.over }

// Column implements vtab.Cursor.
func (c *cursor) Column(column int) (vtab.Value, error) { return c.page.cell(c.at, column), nil }

func (c *cursor) Rowid() (int64, error) { return c.rowid, nil }

// Close implements vtab.Cursor.
func (c *cursor) Close() error {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	return nil
}

// quoted returns a name as an identifier of SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
