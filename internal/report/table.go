package report

import (
	"fmt"
	"reflect"
)

// A Table lays out rows of Row's type, a struct. Each exported field of it is a column, described by
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
//
// A Table has no type parameter, as what is generic would be compiled again for each of some forty types,
// and each start of the tool maps a part of that. Its methods take a slice of rows, and panic if Row is of
// another type.
type Table struct {
	Row     any    // of the rows' type
	What    string // noun for a row, such as lock
	All     bool   // Write ignores the limit of the text
	Text    string // columns of Write
	Brief   string // columns of WriteBrief
	Sort    string // columns by which rows can be sorted
	Compare string // columns of compare; the first is the default order
	CSV     string // columns of WriteCSV

	Groups map[string]Group

	// Cells and BriefCells override the cells of text and of Markdown. A column that BriefCells lacks uses
	// Cells.
	Cells, BriefCells Cells
}

// Cells returns the cell of a row in a column, by its head. It reports false if it does not override the
// column. row is a pointer.
type Cells func(head string, row any) (cell string, ok bool)

// CellsOf returns Cells for functions by head.
func CellsOf[R any](cells map[string]func(R) string) Cells {
	return func(head string, row any) (string, bool) {
		cell, ok := cells[head]
		if !ok {
			return "", false
		}
		return cell(*row.(*R)), true
	}
}

// A Group is a list of columns known only at run time, such as one for each metric.
type Group struct {
	heads []string
	cells func(row any) []string
}

// GroupOf returns a group of columns. Heads are in Grid's syntax.
func GroupOf[R any](heads []string, cells func(R) []string) Group {
	return Group{heads, func(row any) []string { return cells(*row.(*R)) }}
}

// Write writes the rows as text, up to b's limit, and the number of rows left out.
func (t *Table) Write(b *Text, rows any) {
	list := t.rows(rows)
	t.write(b, list.Len(), list.Index)
}

// WriteRows is like Write for the rows of a list. It makes those that it writes: all of them may be several
// times the size of the list.
func WriteRows[S, R any](t *Table, b *Text, list []S, row func(S) R) {
	t.write(b, len(list), func(i int) reflect.Value { return valueOf(row(list[i])) })
}

// valueOf returns a row as a value with an address, for Cells.
func valueOf[R any](row R) reflect.Value { return reflect.ValueOf(&row).Elem() }

// WriteAfter writes an empty line and the rows. Without rows it writes nothing.
func (t *Table) WriteAfter(b *Text, rows any) {
	if list := t.rows(rows); list.Len() > 0 {
		b.WriteByte('\n')
		t.write(b, list.Len(), list.Index)
	}
}

// WriteBrief writes at most n rows as Markdown, and the number of rows left out.
func (t *Table) WriteBrief(b *Brief, rows any, n int) {
	columns, list := t.columns(t.Brief), t.rows(rows)
	var cells [][]string
	for i := range min(n, list.Len()) {
		cells = append(cells, t.cells(columns, list.Index(i), inBrief))
	}
	b.Rows(t.briefHeads(columns), cells)
	b.Rest(list.Len()-len(cells), t.What)
}

// Orders returns the heads of the columns in Sort.
func (t *Table) Orders() []string { return names(t.Sort) }

// SortBy sorts a list by a column of its elements' rows: numbers in descending order with unknown ones
// last, texts in ascending order. tie orders elements that are equal in the column. Rows are made one at a
// time, as by WriteRows.
func SortBy[S, R any](t *Table, list []S, row func(S) R, order string, tie func(a, b S) int) {
	was := append([]S(nil), list...)
	value := func(i int) reflect.Value { return valueOf(row(was[i])) }
	for i, at := range t.sorted(order, len(was), value, func(i, j int) int { return tie(was[i], was[j]) }) {
		list[i] = was[at]
	}
}

// AddRows adds rows of the table to f, with their values in columns; columns that the table lacks are
// unknown. name returns a row's name, and its kind.
func AddRows[R any](f *Figures, t *Table, rows []R, columns []Column, name func(R) (name, kind string)) {
	t.figures(f, t.rows(rows), columns, func(i int) (is, kind string) { return name(rows[i]) })
}

// rows returns a slice of rows as a value.
func (t *Table) rows(list any) reflect.Value {
	v := reflect.ValueOf(list)
	if v.Type().Elem() != reflect.TypeOf(t.Row) {
		panic(fmt.Sprintf("rows of %T, not of %T", list, t.Row))
	}
	return v
}
