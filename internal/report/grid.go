package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/show"
)

// Grid writes the list as a table, with one row per element, and, if b has a limit, the number of
// rows left out: "… and 3 more events", where what is "event". If what is "", all rows are shown.
// Columns are aligned to the right, or to the left if their head begins with <. Columns that are
// empty in all rows are left out.
func Grid[T any](b *Text, what string, heads []string, list []T, row func(T) []string) {
	b.grid(what, heads, len(list), func(i int) []string { return row(list[i]) })
}

func (b *Text) grid(what string, heads []string, n int, row func(i int) []string) {
	shown := n
	if what != "" {
		shown = b.Shown(n)
	}
	var rows [][]string
	for i := range shown {
		rows = append(rows, row(i))
	}
	b.table(heads, rows)
	if left := n - shown; left > 0 {
		fmt.Fprintf(b, "… and %s (-n 0 shows all)\n", show.Plural(int64(left), "more "+what))
	}
}

func (b *Text) table(heads []string, rows [][]string) {
	var (
		width = make([]int, len(heads))
		left  = make([]bool, len(heads))
		names = make([]string, len(heads))
	)
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for i, h := range heads {
		names[i], left[i] = strings.CutPrefix(h, "<")
		if width[i] > 0 {
			width[i] = max(width[i], utf8.RuneCountInString(names[i]))
		}
	}
	b.WriteString(b.Bold(line(names, width, left)) + "\n")
	for _, row := range rows {
		b.WriteString(line(row, width, left) + "\n")
	}
}

// line returns the cells of a row in columns of these widths.
func line(row []string, width []int, left []bool) string {
	var b strings.Builder
	for i, cell := range row {
		if width[i] == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
		if left[i] {
			cell, pad = pad, cell
		}
		b.WriteString(pad + cell)
	}
	return strings.TrimRight(b.String(), " ")
}
