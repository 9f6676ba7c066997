package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"iter"
	"reflect"
	"strconv"
	"strings"
)

// WriteCSV writes the columns of CSV for spreadsheets: exact numbers, times in nanoseconds, and
// names unescaped.
func (t *Table[R]) WriteCSV(w io.Writer, rows List[R]) error {
	l := t.layout()
	columns := l.columns(t.CSV)
	return writeCSV(w, l.exactHeads(columns), func(yield func([]string) bool) {
		for row := range rows {
			v := reflect.ValueOf(&row).Elem()
			cells := exactCells(columns, v, func(head string) ([]string, bool) {
				g, ok := t.Groups[head]
				if !ok {
					return nil, false
				}
				return g.Cells(row), true
			})
			if !yield(cells) {
				return
			}
		}
	})
}

func writeCSV(w io.Writer, heads []string, rows iter.Seq[[]string]) error {
	c := csv.NewWriter(w)
	err := c.Write(heads)
	for cells := range rows {
		if err == nil {
			err = c.Write(cells)
		}
		if err != nil {
			break
		}
	}
	c.Flush()
	return cmp.Or(err, c.Error())
}

// exactCells returns a row's cells; group returns those of a group.
func exactCells(columns []tableColumn, row reflect.Value, group func(head string) ([]string, bool)) (cells []string) {
	for i := range columns {
		if list, ok := group(columns[i].head); ok {
			cells = append(cells, list...)
		} else {
			cells = append(cells, columns[i].exact(row))
		}
	}
	return cells
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
