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

// form names the output that a cell is for.
type form int

const (
	inText form = iota
	inBrief
	inCSV
)

// own returns a row's cells for a group, or for a column whose cells are overridden.
func (t *Table) own(in form, head string, row any) ([]string, bool) {
	if g, ok := t.Groups[head]; ok {
		return g.cells(row), true
	}
	if in == inBrief && t.BriefCells != nil {
		if cell, ok := t.BriefCells(head, row); ok {
			return []string{cell}, true
		}
	}
	if in != inCSV && t.Cells != nil {
		if cell, ok := t.Cells(head, row); ok {
			return []string{cell}, true
		}
	}
	return nil, false
}

// write writes n rows as text.
func (t *Table) write(b *Text, n int, row func(i int) reflect.Value) {
	columns, what := t.columns(t.Text), t.What
	if t.All {
		what = ""
	}
	b.grid(what, t.heads(columns), n, func(i int) []string { return t.cells(columns, row(i), inText) })
}

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

// columns returns the columns of a list. It panics if the row lacks one, which is a mistake in the list.
func (t *Table) columns(of string) (columns []tableColumn) {
	all := reflect.VisibleFields(reflect.TypeOf(t.Row))
	find := func(head string) reflect.StructField {
		i := slices.IndexFunc(all, func(f reflect.StructField) bool { return !f.Anonymous && f.IsExported() && headOf(f) == head })
		if i < 0 {
			panic(fmt.Sprintf("%T has no column %q", t.Row, head))
		}
		return all[i]
	}
	for _, entry := range names(of) {
		shown, head := entry, entry
		if at := strings.LastIndexByte(entry, '='); at >= 0 {
			shown, head = entry[:at], entry[at+1:]
		}
		if _, ok := t.Groups[head]; ok {
			columns = append(columns, tableColumn{head: head})
			continue
		}
		f := find(head)
		c := tableColumn{head: head, shown: shown, noun: entry == "name", index: f.Index, tag: f.Tag}
		for tag, index := range map[string]*[]int{"of": &c.of, "when": &c.when, "bound": &c.bound} {
			if head, ok := f.Tag.Lookup(tag); ok {
				*index = find(head).Index
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

// headsOf returns the heads of columns, in which head returns that of a column that is no group.
func (t *Table) headsOf(columns []tableColumn, head func(*tableColumn) string) (heads []string) {
	for i := range columns {
		if group, ok := t.Groups[columns[i].head]; ok {
			heads = append(heads, group.heads...)
		} else {
			heads = append(heads, head(&columns[i]))
		}
	}
	return heads
}

// heads returns the heads of columns in Grid's syntax; columns of numbers are aligned to the right.
func (t *Table) heads(columns []tableColumn) []string {
	return t.headsOf(columns, func(c *tableColumn) string {
		head := c.shown
		if c.noun {
			head = t.What
		}
		if _, isNumber := c.tag.Lookup("unit"); !isNumber && reflect.TypeOf(t.Row).FieldByIndex(c.index).Type.Kind() != reflect.Int64 {
			head = "<" + head
		}
		return head
	})
}

// briefHeads returns the heads of columns for Markdown.
func (t *Table) briefHeads(columns []tableColumn) []string {
	heads := t.heads(columns)
	for i := range heads {
		heads[i] = strings.TrimPrefix(heads[i], "<")
	}
	return heads
}

// exactHeads returns the heads of columns for CSV.
func (t *Table) exactHeads(columns []tableColumn) []string {
	return t.headsOf(columns, func(c *tableColumn) string { return c.shown })
}

// Compared returns the columns in Compare.
func (t *Table) Compared() (list []Column) {
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

// figures is AddRows, for names by index.
func (t *Table) figures(f *Figures, rows reflect.Value, columns []Column, name func(i int) (name, kind string)) {
	own := make([]*tableColumn, len(columns))
	all := t.columns(t.Compare)
	for i, c := range columns {
		if at := slices.IndexFunc(all, func(x tableColumn) bool { return x.shown == c.Name }); at >= 0 {
			own[i] = &all[at]
		}
	}
	for i := range rows.Len() {
		r, v := Row{Values: make([]float64, len(columns))}, rows.Index(i)
		r.Name, r.Kind = name(i)
		for i, c := range own {
			if r.Values[i] = NaN; c != nil && c.there(v) {
				r.Values[i] = number(v.FieldByIndex(c.index))
			}
		}
		f.Rows = append(f.Rows, r)
	}
}

// Hints returns the columns of Text for a page. The sentence is the unit's noun and the column's says, in
// which a quoted key is the head of its column.
func (t *Table) Hints() (hints []Hint) {
	heads := map[string]string{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(t.Row)) {
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

// A Hint is a column's head and a sentence about it.
type Hint struct{ Head, Says string }

var quoted = regexp.MustCompile(`'[a-z_0-9]+'`)

// sortKey is the value by which the element at an index is sorted.
type sortKey struct {
	text   string
	number float64
	at     int
}

func (c *tableColumn) sortKey(row reflect.Value, at int) sortKey {
	v := row.FieldByIndex(c.index)
	if v.Kind() == reflect.String {
		return sortKey{text: v.String(), at: at}
	}
	return sortKey{number: number(v), at: at}
}

// sorted returns the indices of n rows in the order of a column.
func (t *Table) sorted(order string, n int, row func(i int) reflect.Value, tie func(i, j int) int) []int {
	c, keys, indices := t.columns(order)[0], make([]sortKey, n), make([]int, n)
	for i := range keys {
		keys[i] = c.sortKey(row(i), i)
	}
	slices.SortStableFunc(keys, func(a, b sortKey) int {
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(b.number, a.number), tie(a.at, b.at))
	})
	for i, k := range keys {
		indices[i] = k.at
	}
	return indices
}

// cells returns a row's cells.
func (t *Table) cells(columns []tableColumn, row reflect.Value, in form) (cells []string) {
	for i := range columns {
		c := &columns[i]
		if list, ok := t.own(in, c.head, row.Addr().Interface()); ok {
			cells = append(cells, list...)
		} else if in == inCSV {
			cells = append(cells, c.exact(row))
		} else if in == inBrief && row.FieldByIndex(c.index).Kind() == reflect.String {
			cells = append(cells, Cell(CodeName(row.FieldByIndex(c.index).String())))
		} else {
			cells = append(cells, c.cell(row))
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
