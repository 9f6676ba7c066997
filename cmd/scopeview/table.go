package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is text in columns, numbers to the right. Columns in which no row has
// anything are left out.
type table struct {
	heads []string
	left  []bool // aligned to the left
	rows  [][]string
}

func newTable(heads ...string) *table {
	t := &table{left: make([]bool, len(heads))}
	for i, h := range heads {
		h, left := strings.CutPrefix(h, "<")
		t.left[i] = left
		t.heads = append(t.heads, h)
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer, s styles) error {
	width := make([]int, len(t.heads))
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for i, h := range t.heads {
		if width[i] > 0 {
			width[i] = max(width[i], utf8.RuneCountInString(h))
		}
	}
	line := func(row []string) string {
		var b strings.Builder
		for i, cell := range row {
			if width[i] == 0 {
				continue
			}
			if b.Len() > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if t.left[i] {
				cell, pad = pad, cell
			}
			b.WriteString(pad + cell)
		}
		return strings.TrimRight(b.String(), " ")
	}
	if _, err := io.WriteString(w, s.bold(line(t.heads))+"\n"); err != nil {
		return err
	}
	for _, row := range t.rows {
		if _, err := io.WriteString(w, line(row)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// shorten cuts a name to n characters.
func shorten(name string, n int) string {
	if utf8.RuneCountInString(name) <= n {
		return name
	}
	r := []rune(name)
	return string(r[:n-1]) + "…"
}

// nameWidth bounds the column of names; --json has them whole.
const nameWidth = 48

// more says how many rows are left out.
func more(all, limit int, what string) string {
	if limit == 0 || all <= limit {
		return ""
	}
	return fmt.Sprintf("… and %s (-n 0 shows all)\n", plural(int64(all-limit), "more "+what))
}
