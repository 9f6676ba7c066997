// Command scopeview-duckdb runs SQL from its standard input in DuckDB, in memory, and prints
// the rows of the last statement. It is for machines without the command duckdb.
//
//	scopeview-duckdb [-format table|json|csv] <x.sql
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	format := flag.String("format", "table", "`FORM` of the rows: table, json or csv")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdin, os.Stdout, *format); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview-duckdb: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer, format string) error {
	show := map[string]func(*bufio.Writer, *result) error{"table": table, "json": asJSON, "csv": asCSV}[format]
	if show == nil {
		return fmt.Errorf("-format %q: there is table, json, csv", format)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading SQL: %w", err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return fmt.Errorf("opening DuckDB: %w", err)
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, string(text))
	if err != nil {
		return err
	}
	r, err := read(rows)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	if err := show(w, r); err != nil {
		return err
	}
	return w.Flush()
}

// result is the result of a statement.
type result struct {
	columns []string
	numeric []bool
	rows    [][]any
}

// mostRows is the maximum number of rows printed; COPY exports more.
const mostRows = 1_000_000

func read(rows *sql.Rows) (*result, error) {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	r := &result{columns: columns, numeric: make([]bool, len(columns))}
	for rows.Next() {
		if len(r.rows) == mostRows {
			return nil, errors.New("there are more than a million rows: add a limit, or COPY … TO a file")
		}
		row, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		if err := rows.Scan(at...); err != nil {
			return nil, err
		}
		for i, v := range row {
			switch v := v.(type) {
			case []byte:
				row[i] = string(v)
			case time.Time:
				row[i] = v.UTC().Format("2006-01-02 15:04:05.999999999")
			case fmt.Stringer: // decimals and large integers
				row[i] = json.Number(v.String())
				if _, err := strconv.ParseFloat(v.String(), 64); err != nil {
					row[i] = v.String()
				}
			}
			switch row[i].(type) {
			case string, bool, nil:
			default:
				r.numeric[i] = true
			}
		}
		r.rows = append(r.rows, row)
	}
	return r, rows.Err()
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return fmt.Sprint(v)
}

func asCSV(w *bufio.Writer, r *result) error {
	c := csv.NewWriter(w)
	line := r.columns
	for i := 0; ; i++ {
		if err := c.Write(line); err != nil {
			return err
		}
		if i == len(r.rows) {
			break
		}
		line = make([]string, len(r.columns))
		for k, v := range r.rows[i] {
			line[k] = text(v)
		}
	}
	c.Flush()
	return c.Error()
}

func asJSON(w *bufio.Writer, r *result) error {
	list := make([]map[string]any, 0, len(r.rows))
	for _, row := range r.rows {
		m := make(map[string]any, len(row))
		for i, v := range row {
			m[r.columns[i]] = v
		}
		list = append(list, m)
	}
	return json.NewEncoder(w).Encode(list)
}

// table prints rows as a table. Texts from traces must not control a terminal.
func table(w *bufio.Writer, r *result) error {
	cells := [][]string{r.columns}
	for _, row := range r.rows {
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = strings.Map(func(c rune) rune {
				if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 {
					return '?'
				}
				return c
			}, text(v))
		}
		cells = append(cells, line)
	}
	width := make([]int, len(r.columns))
	for _, line := range cells {
		for i, c := range line {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, line := range cells {
		var b strings.Builder
		for i, c := range line {
			if i > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if r.numeric[i] {
				c = pad + c
			} else {
				c += pad
			}
			b.WriteString(c)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	return nil
}
