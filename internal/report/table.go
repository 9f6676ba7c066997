package report

import (
	"reflect"
	"slices"
)

// A Table lays out rows of type R, a struct. Each exported field of R is a column, described by
// the field's tags:
//
//	json     the key in documents, as for encoding/json; "-": in no document
//	head     the head in tables, which also selects the column; default: the key without _ns
//	unit     the unit of a number: ns, bytes, ratio, "0 to 1", "share", or the noun of what it counts
//	says     a sentence about the column, for docs/json.md; names in quotes are code
//	of       the head of a column of counts: a row whose count is 0 has no value
//	when     the head of a column of bools: a row without it has an empty cell
//	bound    the head of a column of bools: a row with it has a lower bound
//	zero     the cell of a value that is 0
//	signed   numbers have a sign, also +
//	prose    texts are sentences, which are not cut as names are
//	compare  for compare: grows, worse, part; see Column
//
// Write and WriteBrief show What as the head of the column name. The lists of columns below are heads separated by
// ", ". In a list, SHOWN=HEAD replaces the head, and the name of a group selects all of its columns. If
// SHOWN is empty, a column of bools shows its own head in the cells that are true.
type Table[R any] struct {
	What    string // noun for a row, such as lock
	All     bool   // Write ignores the limit of the text
	Text    string // columns of Write
	Brief   string // columns of WriteBrief
	Sort    string // columns by which rows can be sorted
	Compare string // columns of compare; the first is the default order
	CSV     string // columns of WriteCSV

	Groups map[string]Group[R]

	// Cells and BriefCells override, by head, the cells of text and of Markdown. A column that BriefCells
	// lacks uses Cells.
	Cells, BriefCells map[string]func(R) string
}

// A Group is a list of columns known only at run time, such as one for each metric.
type Group[R any] struct {
	Heads []string // in Grid's syntax
	Cells func(R) []string
}

// Write writes the rows as text, up to b's limit, and the number of rows left out.
func (t *Table[R]) Write(b *Text, rows []R) { WriteRows(t, b, rows, func(row R) R { return row }) }

// WriteRows is like Write for the rows of a list. It makes those that it writes: all of them may be several
// times the size of the list.
func WriteRows[S, R any](t *Table[R], b *Text, list []S, row func(S) R) {
	l := t.layout()
	columns, what := l.columns(t.Text), t.What
	if t.All {
		what = ""
	}
	Grid(b, what, l.heads(columns), list, func(x S) []string { return t.cells(columns, row(x), false) })
}

// WriteAfter writes an empty line and the rows. Without rows it writes nothing.
func (t *Table[R]) WriteAfter(b *Text, rows []R) {
	if len(rows) > 0 {
		b.WriteByte('\n')
		t.Write(b, rows)
	}
}

// WriteBrief writes at most n rows as Markdown, and the number of rows left out.
func (t *Table[R]) WriteBrief(b *Brief, rows []R, n int) {
	l := t.layout()
	columns := l.columns(t.Brief)
	var cells [][]string
	for _, row := range rows[:min(n, len(rows))] {
		cells = append(cells, t.cells(columns, row, true))
	}
	b.Rows(l.briefHeads(columns), cells)
	b.Rest(len(rows)-len(cells), t.What)
}

// Orders returns the heads of the columns in Sort.
func (t *Table[R]) Orders() []string { return names(t.Sort) }

// SortBy sorts a list by a column of its elements' rows: numbers in descending order with unknown ones
// last, texts in ascending order. tie orders elements that are equal in the column. Rows are made one at a
// time, as by WriteRows.
func SortBy[S, R any](t *Table[R], list []S, row func(S) R, order string, tie func(a, b S) int) {
	c, was, keys := t.layout().columns(order)[0], slices.Clone(list), make([]sortKey, len(list))
	for i, x := range was {
		r := row(x)
		keys[i] = c.sortKey(reflect.ValueOf(&r).Elem(), i)
	}
	sortKeys(keys, func(i, j int) int { return tie(was[i], was[j]) })
	for i, k := range keys {
		list[i] = was[k.at]
	}
}

// Compared returns the columns in Compare.
func (t *Table[R]) Compared() []Column { return t.layout().compared(t.Compare) }

// Figures adds the rows to f with their values in columns; columns that the table lacks are
// unknown. name returns a row's name, and its kind.
func (t *Table[R]) Figures(f *Figures, rows []R, columns []Column, name func(R) (name, kind string)) {
	t.layout().figures(f, t.Compare, columns, len(rows), func(i int) (row reflect.Value, is, kind string) {
		is, kind = name(rows[i])
		return reflect.ValueOf(&rows[i]).Elem(), is, kind
	})
}

// Hints returns the columns of Text for a page. The sentence is the unit's noun and the column's says, in
// which a quoted key is the head of its column.
func (t *Table[R]) Hints() []Hint { return t.layout().hints(t.Text) }

// cells returns a row's cells, for Markdown or for text.
func (t *Table[R]) cells(columns []tableColumn, row R, brief bool) []string {
	return cells(columns, reflect.ValueOf(&row).Elem(), brief, func(head string) (cells []string, ok bool) {
		if g, ok := t.Groups[head]; ok {
			return g.Cells(row), true
		}
		cell, inBrief := t.BriefCells[head]
		if !brief || !inBrief {
			cell = t.Cells[head]
		}
		if cell == nil {
			return nil, false
		}
		return []string{cell(row)}, true
	})
}

// layout returns the part of the table that does not depend on the type of its rows.
func (t *Table[R]) layout() *layout {
	l := &layout{reflect.TypeFor[R](), t.What, map[string][]string{}}
	for name, g := range t.Groups {
		l.groups[name] = g.Heads
	}
	return l
}
