// Package sql reports the answers to questions in SQL about a trace.
package sql

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/query"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Report is the answer to a question. CSV writes it as comma-separated values.
type Report struct {
	report.Report
	CSV func(io.Writer) error
}

// document is the document of sql --json. Keys may be added; none changes its meaning or is removed.
type document struct {
	report.Kept
	Columns []string          `json:"columns" says:"the heads of the answer's columns"`
	Rows    []json.RawMessage `json:"rows" says:"lists with a value for each column: a number, a text, or null"`
	More    bool              `json:"more" says:"there are more rows than -n allows"`
}

// Of asks a question about the selected part of t. The answer has at most so many rows; 0: all. An error about the
// question names the tables.
func Of(ctx context.Context, t *trace.Trace, sel *analysis.Selection, question string, most int) (*Report, error) {
	d, err := query.Open(t, sel)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	a, err := d.Ask(ctx, question, most)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w; the tables are %s", err, tableNames())
	}
	doc := &document{Kept: report.KeptOf(t), Columns: a.Columns, Rows: []json.RawMessage{}, More: a.More}
	for _, row := range a.Rows {
		b, err := json.Marshal(row)
		if err != nil {
			return nil, fmt.Errorf("the answer has a value that JSON has not: %w", err)
		}
		doc.Rows = append(doc.Rows, b)
	}
	r := &Report{report.Report{Text: func(b *report.Text) { text(b, t, a) }, Document: doc}, func(w io.Writer) error { return writeCSV(w, a) }}
	return r, a.Damage
}

func tableNames() string {
	var names []string
	for _, x := range query.Tables() {
		names = append(names, x.Name)
	}
	return strings.Join(names, ", ")
}

func text(b *report.Text, t *trace.Trace, a *query.Answer) {
	b.Health(t)
	heads := make([]string, len(a.Columns))
	for i, head := range a.Columns {
		if heads[i] = show.Name(head); !isNumeric(a.Rows, i) {
			heads[i] = "<" + heads[i]
		}
	}
	report.Grid(b, "", heads, a.Rows, func(row []any) (cells []string) {
		for _, v := range row {
			cells = append(cells, cell(v))
		}
		return cells
	})
	if a.More {
		b.WriteString("… and more rows (-n 0 shows all)\n")
	}
}

// isNumeric reports whether a column has nothing but numbers.
func isNumeric(rows [][]any, column int) bool {
	for _, row := range rows {
		switch row[column].(type) {
		case nil, int64, float64:
		default:
			return false
		}
	}
	return true
}

// cell returns a value for people; NULL is -.
func cell(v any) string {
	if v == nil {
		return "-"
	}
	return show.Name(exact(v))
}

// exact returns a value for programs; NULL is empty.
func exact(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case []byte:
		return string(x)
	}
	return fmt.Sprint(v)
}

func writeCSV(w io.Writer, a *query.Answer) error {
	c := csv.NewWriter(w)
	err := c.Write(a.Columns)
	cells := make([]string, len(a.Columns))
	for _, row := range a.Rows {
		for i, v := range row {
			cells[i] = exact(v)
		}
		err = errors.Join(err, c.Write(cells))
	}
	c.Flush()
	return errors.Join(err, c.Error())
}

// Tables describes the tables, with a line for each column.
func Tables() *Report {
	type row struct{ table, column, typ, says string }
	var rows []row
	doc := &tablesDocument{Tables: []tableRow{}}
	for _, x := range query.Tables() {
		rows = append(rows, row{x.Name, "", "", x.Says})
		own := tableRow{Name: x.Name, Says: x.Says, Columns: []columnRow{}}
		for _, c := range x.Columns {
			rows = append(rows, row{"", c.Name, c.Type, c.Says})
			own.Columns = append(own.Columns, columnRow{c.Name, c.Type, c.Says})
		}
		doc.Tables = append(doc.Tables, own)
	}
	return &Report{report.Report{Document: doc, Text: func(b *report.Text) {
		report.Grid(b, "", []string{"<table", "<column", "<type", "<"}, rows, func(r row) []string { return []string{r.table, r.column, r.typ, r.says} })
	}}, nil}
}

// tablesDocument is the document of sql --json without a question.
type tablesDocument struct {
	Tables []tableRow `json:"tables"`
}

type tableRow struct {
	Name    string      `json:"name"`
	Says    string      `json:"says"`
	Columns []columnRow `json:"columns"`
}

type columnRow struct {
	Name string `json:"name"`
	Type string `json:"type" says:"of SQLite"`
	Says string `json:"says"`
}
