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
func WriteCSV[R any](t *Table, w io.Writer, rows List[R]) error {
	return t.writeCSV(w, func(yield func(reflect.Value) bool) {
		rows(func(row R) bool { return yield(valueOf(row)) })
	})
}

func (t *Table) writeCSV(w io.Writer, rows iter.Seq[reflect.Value]) error {
	columns := t.columns(t.CSV)
	c := csv.NewWriter(w)
	err := c.Write(t.exactHeads(columns))
	for row := range rows {
		if err == nil {
			err = c.Write(t.cells(columns, row, inCSV))
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
