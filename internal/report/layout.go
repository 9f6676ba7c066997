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

// layout is the part of a Table that does not depend on the type of its rows. What is generic is compiled
// again for each of some seventy types.
type layout struct {
	row    reflect.Type
	what   string
	groups map[string][]string // the heads of each
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
func (l *layout) columns(list string) (columns []tableColumn) {
	all := reflect.VisibleFields(l.row)
	find := func(head string) reflect.StructField {
		i := slices.IndexFunc(all, func(f reflect.StructField) bool { return !f.Anonymous && f.IsExported() && headOf(f) == head })
		if i < 0 {
			panic(fmt.Sprintf("%v has no column %q", l.row, head))
		}
		return all[i]
	}
	for _, entry := range names(list) {
		shown, head := entry, entry
		if at := strings.LastIndexByte(entry, '='); at >= 0 {
			shown, head = entry[:at], entry[at+1:]
		}
		if _, ok := l.groups[head]; ok {
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
func (l *layout) headsOf(columns []tableColumn, head func(*tableColumn) string) (heads []string) {
	for i := range columns {
		if group, ok := l.groups[columns[i].head]; ok {
			heads = append(heads, group...)
		} else {
			heads = append(heads, head(&columns[i]))
		}
	}
	return heads
}

// heads returns the heads of columns in Grid's syntax; columns of numbers are aligned to the right.
func (l *layout) heads(columns []tableColumn) []string {
	return l.headsOf(columns, func(c *tableColumn) string {
		head := c.shown
		if c.noun {
			head = l.what
		}
		if _, isNumber := c.tag.Lookup("unit"); !isNumber && l.row.FieldByIndex(c.index).Type.Kind() != reflect.Int64 {
			head = "<" + head
		}
		return head
	})
}

// briefHeads returns the heads of columns for Markdown.
func (l *layout) briefHeads(columns []tableColumn) []string {
	heads := l.heads(columns)
	for i := range heads {
		heads[i] = strings.TrimPrefix(heads[i], "<")
	}
	return heads
}

// exactHeads returns the heads of columns for CSV.
func (l *layout) exactHeads(columns []tableColumn) []string {
	return l.headsOf(columns, func(c *tableColumn) string { return c.shown })
}

// compared is Table.Compared for a list of columns.
func (l *layout) compared(of string) (list []Column) {
	for _, c := range l.columns(of) {
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

// figures is Table.Figures for n rows and a list of columns.
func (l *layout) figures(f *Figures, of string, columns []Column, n int, row func(i int) (v reflect.Value, name, kind string)) {
	own := make([]*tableColumn, len(columns))
	all := l.columns(of)
	for i, c := range columns {
		if at := slices.IndexFunc(all, func(x tableColumn) bool { return x.shown == c.Name }); at >= 0 {
			own[i] = &all[at]
		}
	}
	for i := range n {
		r := Row{Values: make([]float64, len(columns))}
		var v reflect.Value
		v, r.Name, r.Kind = row(i)
		for i, c := range own {
			if r.Values[i] = NaN; c != nil && c.there(v) {
				r.Values[i] = number(v.FieldByIndex(c.index))
			}
		}
		f.Rows = append(f.Rows, r)
	}
}

// hints is Table.Hints for a list of columns.
func (l *layout) hints(of string) (hints []Hint) {
	heads := map[string]string{}
	for _, f := range reflect.VisibleFields(l.row) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		heads[key] = headOf(f)
	}
	for _, c := range l.columns(of) {
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

func sortKeys(keys []sortKey, tie func(i, j int) int) {
	slices.SortStableFunc(keys, func(a, b sortKey) int {
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(b.number, a.number), tie(a.at, b.at))
	})
}

// cells returns a row's cells. own returns those of a group, or of a column whose cells are overridden.
func cells(columns []tableColumn, row reflect.Value, brief bool, own func(head string) ([]string, bool)) (cells []string) {
	for i := range columns {
		c := &columns[i]
		if list, ok := own(c.head); ok {
			cells = append(cells, list...)
		} else if brief && row.FieldByIndex(c.index).Kind() == reflect.String {
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
