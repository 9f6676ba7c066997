package report

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
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
	columns := t.columns(t.Text)
	what := t.What
	if t.All {
		what = ""
	}
	Grid(b, what, t.heads(columns), list, func(x S) []string { return t.cells(columns, row(x), false) })
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
	columns := t.columns(t.Brief)
	heads := t.heads(columns)
	for i := range heads {
		heads[i] = strings.TrimPrefix(heads[i], "<")
	}
	n = min(n, len(rows))
	var cells [][]string
	for _, row := range rows[:n] {
		cells = append(cells, t.cells(columns, row, true))
	}
	b.Rows(heads, cells)
	b.Rest(len(rows)-n, t.What)
}

// Orders returns the heads of the columns in Sort.
func (t *Table[R]) Orders() []string { return names(t.Sort) }

// SortBy sorts a list by a column of its elements' rows: numbers in descending order with unknown ones
// last, texts in ascending order. tie orders elements that are equal in the column. Rows are made one at a
// time, as by WriteRows.
func SortBy[S, R any](t *Table[R], list []S, row func(S) R, order string, tie func(a, b S) int) {
	type keyed struct {
		text   string
		number float64
		of     S
	}
	c := t.columns(order)[0]
	keys := make([]keyed, len(list))
	for i, x := range list {
		r := row(x)
		keys[i].of = x
		if v := reflect.ValueOf(&r).Elem().FieldByIndex(c.index); v.Kind() == reflect.String {
			keys[i].text = v.String()
		} else {
			keys[i].number = number(v)
		}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(b.number, a.number), tie(a.of, b.of))
	})
	for i := range keys {
		list[i] = keys[i].of
	}
}

// Compared returns the columns in Compare.
func (t *Table[R]) Compared() (list []Column) {
	for _, c := range t.columns(t.Compare) {
		has := func(word string) bool { return slices.Contains(strings.Fields(c.tag.Get("compare")), word) }
		unit := Count
		switch u := Unit(c.tag.Get("unit")); u {
		case Nanoseconds, Share, Ratio:
			unit = u
		case "CPUs":
			unit = Ratio
		}
		list = append(list, Column{Name: c.shown, Unit: unit, Grows: has("grows"), Worse: has("worse"), Part: has("part")})
	}
	return list
}

// Figures adds the rows to f with their values in columns; columns that the table lacks are
// unknown. name returns a row's name, and its kind.
func (t *Table[R]) Figures(f *Figures, rows []R, columns []Column, name func(R) (name, kind string)) {
	own := make([]*tableColumn, len(columns))
	all := t.columns(t.Compare)
	for i, c := range columns {
		if at := slices.IndexFunc(all, func(x tableColumn) bool { return x.shown == c.Name }); at >= 0 {
			own[i] = &all[at]
		}
	}
	for _, row := range rows {
		r := Row{Values: make([]float64, len(columns))}
		r.Name, r.Kind = name(row)
		v := reflect.ValueOf(&row).Elem()
		for i, c := range own {
			if r.Values[i] = NaN; c != nil && c.there(v) {
				r.Values[i] = number(v.FieldByIndex(c.index))
			}
		}
		f.Rows = append(f.Rows, r)
	}
}

// A Hint is a column's head and a sentence about it.
type Hint struct{ Head, Says string }

// Hints returns the columns of Text for a page. The sentence is the unit's noun and the column's says, in
// which a quoted key is the head of its column.
func (t *Table[R]) Hints() (hints []Hint) {
	heads := map[string]string{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		heads[key] = headOf(f)
	}
	for _, c := range t.columns(t.Text) {
		text := quoted.ReplaceAllStringFunc(c.tag.Get("says"), func(key string) string {
			key = strings.Trim(key, "'")
			return cmp.Or(heads[key], key)
		})
		if unit := c.tag.Get("unit"); text != "" && !slices.Contains([]string{"", "ns", "bytes", "ratio", "0 to 1"}, unit) {
			text = unit + " " + text
		}
		if text != "" {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		hints = append(hints, Hint{c.head, text})
	}
	return hints
}

var quoted = regexp.MustCompile(`'[a-z_0-9]+'`)

// tableColumn is a field of a row, or a group.
type tableColumn struct {
	head            string // by which it is selected; the name of a group
	shown           string // the head in the output
	noun            bool   // text and Markdown show What instead
	index           []int
	of, when, bound []int // the columns that these tags name; nil: none
	tag             reflect.StructTag
}

func names(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ", ")
}

// columns returns the columns of a list. It panics if R lacks one, which is a mistake in the list.
func (t *Table[R]) columns(list string) (columns []tableColumn) {
	all := reflect.VisibleFields(reflect.TypeFor[R]())
	find := func(what string, is func(reflect.StructField) bool) reflect.StructField {
		i := slices.IndexFunc(all, func(f reflect.StructField) bool { return !f.Anonymous && f.IsExported() && is(f) })
		if i < 0 {
			panic(fmt.Sprintf("%T has no column %q", *new(R), what))
		}
		return all[i]
	}
	for _, entry := range names(list) {
		shown, head := entry, entry
		if at := strings.LastIndexByte(entry, '='); at >= 0 {
			shown, head = entry[:at], entry[at+1:]
		}
		if _, ok := t.Groups[head]; ok {
			columns = append(columns, tableColumn{head: head})
			continue
		}
		f := find(head, func(f reflect.StructField) bool { return headOf(f) == head })
		c := tableColumn{head: head, shown: shown, noun: entry == "name", index: f.Index, tag: f.Tag}
		for tag, index := range map[string]*[]int{"of": &c.of, "when": &c.when, "bound": &c.bound} {
			if head, ok := f.Tag.Lookup(tag); ok {
				*index = find(head, func(f reflect.StructField) bool { return headOf(f) == head }).Index
			}
		}
		columns = append(columns, c)
	}
	return columns
}

// headOf returns the head of a field's column.
func headOf(f reflect.StructField) string {
	if head, ok := f.Tag.Lookup("head"); ok {
		return head
	}
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.TrimSuffix(key, "_ns")
}

// heads returns the heads of columns in Grid's syntax; columns of numbers are aligned to the right.
func (t *Table[R]) heads(columns []tableColumn) (heads []string) {
	row := reflect.TypeFor[R]()
	for _, c := range columns {
		if g, ok := t.Groups[c.head]; ok {
			heads = append(heads, g.Heads...)
			continue
		}
		head := c.shown
		if c.noun {
			head = t.What
		}
		if _, isNumber := c.tag.Lookup("unit"); !isNumber && row.FieldByIndex(c.index).Type.Kind() != reflect.Int64 {
			head = "<" + head
		}
		heads = append(heads, head)
	}
	return heads
}

// cells returns a row's cells, for Markdown or for text.
func (t *Table[R]) cells(columns []tableColumn, row R, brief bool) (cells []string) {
	v := reflect.ValueOf(&row).Elem()
	for _, c := range columns {
		cell, inBrief := t.BriefCells[c.head]
		if !brief || !inBrief {
			cell = t.Cells[c.head]
		}
		switch g, ok := t.Groups[c.head]; {
		case ok:
			cells = append(cells, g.Cells(row)...)
		case cell != nil:
			cells = append(cells, cell(row))
		case brief && v.FieldByIndex(c.index).Kind() == reflect.String:
			cells = append(cells, Cell(CodeName(v.FieldByIndex(c.index).String())))
		default:
			cells = append(cells, c.cell(v))
		}
	}
	return cells
}

// there reports whether a row has a value in the column: no waits have no longest one.
func (c *tableColumn) there(row reflect.Value) bool {
	return (c.of == nil || !row.FieldByIndex(c.of).IsZero()) && c.applies(row)
}

// applies reports whether the column applies to a row: a channel has no holds.
func (c *tableColumn) applies(row reflect.Value) bool {
	return c.when == nil || row.FieldByIndex(c.when).Bool()
}

func (c *tableColumn) cell(row reflect.Value) string {
	v := row.FieldByIndex(c.index)
	if !c.applies(row) {
		return ""
	}
	if zero, ok := c.tag.Lookup("zero"); ok && v.IsZero() {
		return zero
	}
	if !c.there(row) {
		return "-"
	}
	if v.Kind() == reflect.Bool && v.Bool() && c.shown == "" {
		return c.head
	}
	if _, prose := c.tag.Lookup("prose"); prose {
		return show.Text(v.String())
	}
	text := cellText(v, c.tag.Get("unit"))
	if _, signed := c.tag.Lookup("signed"); signed && text[0] != '-' {
		text = "+" + text
	}
	if c.bound != nil && row.FieldByIndex(c.bound).Bool() {
		return AtLeast.String() + text
	}
	return text
}
