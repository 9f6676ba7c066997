package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// WriteCSV writes the columns of CSV for spreadsheets: exact numbers, times in nanoseconds, and
// names unescaped.
func (t *Table[R]) WriteCSV(w io.Writer, rows List[R]) error {
	columns := t.columns(t.CSV)
	cells := func(own func(tableColumn) string, group func(Group[R]) []string) (cells []string) {
		for _, c := range columns {
			if g, ok := t.Groups[c.head]; ok {
				cells = append(cells, group(g)...)
			} else {
				cells = append(cells, own(c))
			}
		}
		return cells
	}
	c := csv.NewWriter(w)
	err := c.Write(cells(func(c tableColumn) string { return c.shown }, func(g Group[R]) []string { return g.Heads }))
	for row := range rows {
		v := reflect.ValueOf(&row).Elem()
		if err == nil {
			err = c.Write(cells(func(c tableColumn) string { return c.exact(v) }, func(g Group[R]) []string { return g.Cells(row) }))
		}
		if err != nil {
			break
		}
	}
	c.Flush()
	return cmp.Or(err, c.Error())
}

// exact returns a value for programs; an unknown one is empty.
func (c *tableColumn) exact(row reflect.Value) string {
	v := row.FieldByIndex(c.index)
	if zero, ok := c.tag.Lookup("zero"); ok && v.IsZero() {
		return zero
	}
	switch x := v.Interface().(type) {
	case Int:
		if !x.known() {
			return ""
		}
		return strconv.FormatInt(x.N, 10)
	case []string:
		return strings.Join(x, " ")
	case interface{ Exact() string }:
		return x.Exact()
	}
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return ""
	case v.Kind() == reflect.Pointer:
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	}
	return v.String()
}
