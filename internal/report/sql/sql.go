// Package sql shows the answer to an SQL question about a trace (package query), and the tables that
// questions can be about.
package sql

import (
	"encoding/csv"
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/query"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// document is the document of sql --json. Keys may be added; none changes its meaning or is removed.
type document struct {
	report.Kept
	Columns []string           `json:"columns" says:"their names, which may be equal"`
	Rows    report.List[[]any] `json:"rows" unit:"as the question" says:"a list of the values of each row, by column; null: unknown. A blob is its bytes in hexadecimal, an infinite number is '+Inf' or '-Inf'"`
}

// Report is the answer to a question.
type Report struct {
	report.Report
	q      *query.Question
	failed error
}

// Of returns the report of a question about t. It is answered when the report is written, once;
// Answered has the error of that.
func Of(t *trace.Trace, q *query.Question) *Report {
	r := &Report{q: q}
	r.Text = func(b *report.Text) {
		b.Health(t)
		r.text(b)
	}
	r.Document = &document{report.KeptOf(t), q.Columns, r.rows}
	return r
}

// Answered returns the error of answering the question, after the report was written.
func (r *Report) Answered() error { return r.failed }

// Problem returns the error of reading the trace, of which the answer has the rest.
func (r *Report) Problem() error { return r.q.Problem() }

// rows yields the rows of the document.
func (r *Report) rows(yield func([]any) bool) {
	r.failed = r.q.Each(func(row []any) bool {
		for i, v := range row {
			switch v := v.(type) {
			case []byte:
				row[i] = hex.EncodeToString(v)
			case float64:
				if math.IsInf(v, 0) {
					row[i] = cell(v)
				}
			}
		}
		return yield(row)
	})
}

// text writes the rows up to the limit, and the number of the others.
func (r *Report) text(b *report.Text) {
	heads, numbers := make([]string, len(r.q.Columns)), make([]bool, len(r.q.Columns))
	var rows [][]string
	n := int64(0)
	r.failed = r.q.Each(func(row []any) bool {
		if n++; b.Limit > 0 && n > int64(b.Limit) {
			return true
		}
		cells := make([]string, len(row))
		for i, v := range row {
			switch v.(type) {
			case int64, float64:
				numbers[i] = true
			}
			if cells[i] = show.Name(cell(v)); v == nil {
				cells[i] = "-" // otherwise a column without values would have no head
			}
		}
		rows = append(rows, cells)
		return true
	})
	for i, name := range r.q.Columns {
		if heads[i] = show.Name(name); !numbers[i] {
			heads[i] = "<" + heads[i]
		}
	}
	if len(rows) > 0 {
		report.Grid(b, "", heads, rows, func(row []string) []string { return row })
	}
	switch left := n - int64(len(rows)); {
	case left > 0:
		b.WriteString("… and " + show.Plural(left, "more row") + " (-n 0 shows all)\n")
	case n == 0 && r.failed == nil:
		b.WriteString("no rows\n")
	}
	for _, note := range r.q.Notes() {
		b.WriteString("\n" + show.Text(note) + "\n")
	}
}

// cell returns the text of a value, "" for NULL.
func cell(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return v
	case []byte:
		return hex.EncodeToString(v)
	}
	return ""
}

// CSV writes the names of the columns and the rows: exact values, and an empty cell for NULL.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	cells := make([]string, len(r.q.Columns))
	for i, name := range r.q.Columns {
		cells[i] = args.Valid(name)
	}
	failed := c.Write(cells)
	r.failed = r.q.Each(func(row []any) bool {
		for i, v := range row {
			cells[i] = args.Valid(cell(v))
		}
		if failed == nil {
			failed = c.Write(cells)
		}
		return failed == nil
	})
	if c.Flush(); failed == nil {
		failed = c.Error()
	}
	return failed
}

// Tables explains the tables and their columns.
func Tables() *report.Report {
	return &report.Report{Text: func(b *report.Text) {
		known := map[query.Column]bool{}
		for i, t := range query.Tables() {
			if i > 0 {
				b.WriteByte('\n')
			}
			writeTable(b, &t, known)
		}
	}}
}

// writeTable writes a table: a line for each of its columns, and those without a sentence, or which an
// earlier table has explained, by their names.
func writeTable(b *report.Text, t *query.Table, known map[query.Column]bool) {
	b.WriteString(b.Bold(t.Name) + "  " + t.Says + "\n")
	line := " "
	for i, c := range t.Columns {
		if c.Says != "" && !known[c] {
			continue
		}
		if len(line)+len(c.Name) > 100 {
			b.WriteString(line + "\n")
			line = " "
		}
		if line += " " + c.Name; i < len(t.Columns)-1 {
			line += ","
		}
	}
	if line != " " {
		b.WriteString(strings.TrimSuffix(line, ",") + "\n")
	}
	for _, c := range t.Columns {
		if c.Says != "" && !known[c] {
			b.WriteString("  " + pad(c.Name, 12) + c.Says + "\n")
			known[c] = true
		}
	}
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(1, n-len(s))) }
