package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
)

// A Table shows rows of type R, a struct. Each exported field of R is a column, which its tags
// describe:
//
//	json   its key in documents, as for encoding/json; "-": it is in none
//	head   its head in tables, by which it is sorted and chosen; without this tag the key, less _ns
//	unit   the unit of a number: ns, bytes, ratio, "0 to 1", "share", or the noun of what it counts
//	says   a sentence about it, for docs/json.md; names in quotes are code
//	of     the head of a column of counts: where that is 0, there is no value
//	when   the head of a column of bools: where that is false, there is no such thing, and the cell is empty
//	bound  the head of a column of bools: where that is true, the value is a lower bound
//	zero   the cell of a value that is 0
//	signed    numbers have their sign, + too
//	prose     texts are sentences, and not cut as names are
//	compare  words for compare: grows, worse, part; see Column
//
// The head of a column that is called name is What. Lists of columns have their heads, with
// commas between them; SHOWN=HEAD shows another head, or none. The name of a group stands for all of its
// columns. A column of bools without a head has its own in the cells that are true.
type Table[R any] struct {
	What    string // one row, such as lock
	All     bool   // the text has all rows, whatever its limit
	Text    string // columns of the text, in order
	Brief   string // columns of the Markdown
	Sort    string // columns that rows are sorted by
	Compare string // columns that are compared, the one that sorts them first
	CSV     string // columns of WriteCSV

	Groups map[string]Group[R]

	// By head, cells that hold more than their column's value. In Markdown Cells count where BriefCells has none.
	Cells, BriefCells map[string]func(R) string
}

// A Group has columns that are known at run time only, such as one for each metric.
type Group[R any] struct {
	Heads []string // as Grid has them
	Cells func(R) []string
}

// Write writes the rows as text, and how many are left out if b has a limit.
func (t *Table[R]) Write(b *Text, rows []R) {
	columns := t.columns(t.Text)
	what := t.What
	if t.All {
		what = ""
	}
	Grid(b, what, t.heads(columns), rows, func(row R) []string { return t.cells(columns, row, false) })
}

// WriteAfter writes the rows, if there are any, behind an empty line.
func (t *Table[R]) WriteAfter(b *Text, rows []R) {
	if len(rows) > 0 {
		b.WriteByte('\n')
		t.Write(b, rows)
	}
}

// WriteBrief writes at most n rows as Markdown, and how many are left out.
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

// Orders lists the columns that rows are sorted by.
func (t *Table[R]) Orders() []string { return names(t.Sort) }

// SortBy sorts rows by a column: numbers from the largest on, unknown ones last, and names from A
// to Z. Rows that are equal there are sorted by tie.
func (t *Table[R]) SortBy(rows []R, order string, tie func(a, b R) int) {
	c := t.columns(order)[0]
	slices.SortStableFunc(rows, func(a, b R) int {
		x, y := reflect.ValueOf(&a).Elem().FieldByIndex(c.index), reflect.ValueOf(&b).Elem().FieldByIndex(c.index)
		if x.Kind() == reflect.String {
			return cmp.Or(cmp.Compare(x.String(), y.String()), tie(a, b))
		}
		return cmp.Or(cmp.Compare(number(y), number(x)), tie(a, b))
	})
}

// Compared returns the columns that are compared.
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

// Figures adds the rows to f: what they have in columns, of which those that the table lacks are
// unknown. Name returns what a row is called, and what kind of thing it is.
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

// tableColumn is a field of a row, or a group.
type tableColumn struct {
	head            string // by which it is chosen; of a group its name
	shown           string // the head that is shown
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

// columns finds those of a list. A list with a column that R lacks is a mistake of the program.
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
		} else if entry == "name" {
			shown = t.What
		}
		if _, ok := t.Groups[head]; ok {
			columns = append(columns, tableColumn{head: head})
			continue
		}
		f := find(head, func(f reflect.StructField) bool { return headOf(f) == head })
		c := tableColumn{head: head, shown: shown, index: f.Index, tag: f.Tag}
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

// heads returns what stands above columns, as Grid has it: numbers are aligned to the right.
func (t *Table[R]) heads(columns []tableColumn) (heads []string) {
	row := reflect.TypeFor[R]()
	for _, c := range columns {
		if g, ok := t.Groups[c.head]; ok {
			heads = append(heads, g.Heads...)
			continue
		}
		head := c.shown
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

// there reports whether there is a value in a row: not the longest of no waits.
func (c *tableColumn) there(row reflect.Value) bool {
	return (c.of == nil || !row.FieldByIndex(c.of).IsZero()) && c.applies(row)
}

// applies reports whether there is such a thing in a row: no holds of a channel.
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

// cellText returns a value for people: of each unit in one way.
func cellText(v reflect.Value, unit string) string {
	switch x := v.Interface().(type) {
	case Int:
		if x.Kind == Unknown {
			return "-"
		}
		return x.Kind.String() + cellText(reflect.ValueOf(x.N), unit)
	case Float:
		if x.Kind == Unknown {
			return "-"
		}
		return x.Kind.String() + cellText(reflect.ValueOf(x.N), unit)
	}
	switch v.Kind() {
	case reflect.String:
		return Name(v.String())
	case reflect.Bool:
		if v.Bool() {
			return "yes"
		}
		return ""
	case reflect.Float64:
		switch Unit(unit) {
		case Share:
			return show.Percent(v.Float())
		case Nanoseconds:
			return show.Duration(v.Float())
		case Ratio, "CPUs":
			return show.Ratio(v.Float())
		case "bytes per second":
			return show.Size(v.Float()) + "/s"
		case "share":
			return show.Hundredths(v.Float())
		}
		return show.Number(v.Float())
	}
	n := v.Convert(reflect.TypeFor[int64]()).Int()
	switch unit {
	case "ns":
		return show.Duration(n)
	case "bytes":
		return show.Size(n)
	case "line", "lines", "number": // such as a process's: they count nothing
		return strconv.FormatInt(n, 10)
	}
	if v.CanUint() {
		return show.Count(v.Uint())
	}
	return show.Count(n)
}

// number returns a value as a float, Unknown if it is not known exactly.
func number(v reflect.Value) float64 {
	switch x := v.Interface().(type) {
	case Int:
		return Or(x.N, x.known())
	case Float:
		return Or(x.N, x.known())
	case bool:
		return NaN
	}
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return NaN
}

// Kind says what is known of a number.
type Kind uint8

// Kinds of numbers.
const (
	Unknown Kind = iota
	Exact
	About   // an estimate
	AtLeast // a lower bound
	AtMost  // an upper bound
)

// String returns what stands before a number.
func (k Kind) String() string { return [...]string{"", "", "≈ ", "≥ ", "≤ "}[k] }

// A Number is a number of which not all may be known. The zero value is unknown.
type Number[T int64 | float64] struct {
	N    T
	Kind Kind
}

// Int and Float are numbers of rows. In documents they are null unless they are exact or estimated.
type (
	Int   = Number[int64]
	Float = Number[float64]
)

// Known returns a number that is known if ok.
func Known[T int64 | float64](n T, ok bool) Number[T] {
	if !ok {
		return Number[T]{}
	}
	return Number[T]{n, Exact}
}

func (n Number[T]) known() bool { return n.Kind == Exact || n.Kind == About }

// Plus returns the sum of two numbers, of which not more is known than of either.
func (n Number[T]) Plus(m Number[T]) Number[T] {
	if n.Kind == Unknown || m.Kind == Unknown {
		return Number[T]{}
	}
	return Number[T]{n.N + m.N, max(n.Kind, m.Kind)}
}

// MarshalJSON writes the number, or null for bounds and for what is not known.
func (n Number[T]) MarshalJSON() ([]byte, error) {
	if !n.known() {
		return []byte("null"), nil
	}
	return json.Marshal(n.N)
}

// Sample is a value that the program gave. Those that JSON has no number for are strings: "NaN".
type Sample float64

// MarshalJSON implements json.Marshaler.
func (s Sample) MarshalJSON() ([]byte, error) {
	if v := float64(s); v-v != 0 {
		return json.Marshal(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return json.Marshal(float64(s))
}
