package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// table is the result of a run.
type table struct {
	machine hardware
	when    time.Time
	short   bool
	parts   []part
}

type part struct {
	name string
	rows []row
}

func (t *table) add(name string, rows []row) { t.parts = append(t.parts, part{name, rows}) }

// missed counts the rows that fail.
func (t *table) missed() (n int) {
	for _, p := range t.parts {
		for _, r := range p.rows {
			if v := r.verdict(); v == verdictMiss || v == verdictFail {
				n++
			}
		}
	}
	return n
}

var columns = []string{"", "value", "× floor", "judged", "goal", "must", "verdict", ""}

func (r row) cells() []string {
	cells := []string{r.name, r.value.String(), "", "", "", "", r.verdict(), r.note}
	if r.floor > 0 {
		cells[2] = fmt.Sprintf("%.2f", r.floor)
	}
	if u := r.judge.unit; u != "" {
		sign := "≤ "
		if r.least {
			sign = "≥ "
		}
		if r.judge != r.value {
			cells[3] = r.judge.String()
		}
		cells[4], cells[5] = sign+quantity{r.goal, u}.String(), sign+quantity{r.must, u}.String()
	}
	if r.fault != "" {
		cells[7] = r.fault
	}
	return cells
}

func (t *table) print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "scopeview benchmarks, %s\n%s", t.when.UTC().Format("2006-01-02 15:04 UTC"), t.machine)
	if t.short {
		b.WriteString("a short run: for a first look only\n")
	}
	var all sheet
	for _, p := range t.parts {
		lines := make([][]string, len(p.rows))
		for i, r := range p.rows {
			lines[i] = r.cells()
		}
		all = append(all, section{p.name, lines})
	}
	all.print(&b, columns)
	_, err := w.Write(b.Bytes())
	return err
}

// sheet is lines of cells, in sections.
type sheet []section

type section struct {
	name  string
	lines [][]string
}

// print prints the sheet under its columns' names.
func (s sheet) print(b *bytes.Buffer, columns []string) {
	width := make([]int, len(columns))
	grow := func(cells []string) {
		for i, c := range cells {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	grow(columns)
	for _, p := range s {
		for _, l := range p.lines {
			grow(l)
		}
	}
	printLine(b, columns, width)
	for _, p := range s {
		fmt.Fprintf(b, "%s\n", p.name)
		for _, l := range p.lines {
			printLine(b, l, width)
		}
	}
}

// printLine aligns words on the left, numbers on the right.
func printLine(b *bytes.Buffer, cells []string, width []int) {
	var line strings.Builder
	for i, c := range cells {
		pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
		if i == 0 || i >= 6 {
			line.WriteString("  " + c + pad)
		} else {
			line.WriteString("  " + pad + c)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// saved prints to a file; in a directory it gets a name by date and machine.
func saved(path, prefix string, when time.Time, machine hardware, print func(io.Writer) error) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, prefix+when.UTC().Format("2006-01-02")+"-"+slug(machine.name())+".txt")
	}
	var b bytes.Buffer
	if err := print(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("the table can't be saved: %w", err)
	}
	return nil
}

// slug returns words as a file name.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
}
