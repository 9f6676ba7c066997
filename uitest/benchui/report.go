package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// row is a measurement. A must of 0 means that it is reported only.
type row struct {
	group, name string
	value, must float64
	unit        string
	note        string
	err         error
}

func (r row) verdict() string {
	switch {
	case r.err != nil:
		return "FAILED"
	case r.must == 0:
		return ""
	case r.value > r.must:
		return "MISSED"
	}
	return "ok"
}

func (r row) amount(v float64) string {
	digits := 0
	if v < 10 {
		digits = 2
	} else if v < 100 {
		digits = 1
	}
	return fmt.Sprintf("%.*f %s", digits, v, r.unit)
}

func (r row) cells() []string {
	if r.err != nil {
		return []string{r.name, "", "", r.verdict(), r.err.Error()}
	}
	cells := []string{r.name, r.amount(r.value), "", r.verdict(), r.note}
	if r.must > 0 {
		cells[2] = "≤ " + r.amount(r.must)
	}
	return cells
}

// report has the results of a run.
type report struct {
	when    time.Time
	load    string // of the machine by other programs, at the start of the run
	browser string
	rows    []row
}

func (r *report) missed() (n int) {
	for _, row := range r.rows {
		if v := row.verdict(); v == "MISSED" || v == "FAILED" {
			n++
		}
	}
	return n
}

func (r *report) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "scopeview timeline page, %s\n%s, %d CPUs, %s on %s/%s, %s without a GPU; load before the run %s\n",
		r.when.UTC().Format("2006-01-02 15:04 UTC"), processor(), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, r.browser, r.load)
	lines := [][]string{{"", "value", "must", "verdict", ""}}
	for _, row := range r.rows {
		lines = append(lines, row.cells())
	}
	width := make([]int, 5)
	for _, l := range lines {
		for i, c := range l {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	print := func(l []string) {
		var line strings.Builder
		for i, c := range l {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i == 1 || i == 2 {
				c, pad = pad, c
			}
			line.WriteString("  " + c + pad)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	print(lines[0])
	group := ""
	for i, row := range r.rows {
		if row.group != group {
			group = row.group
			b.WriteString(group + "\n")
		}
		print(lines[i+1])
	}
	return b.String()
}

// save writes the report to a file; in a directory its name has date and machine.
func (r *report) save(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, fmt.Sprintf("ui-%s-%s.txt", r.when.UTC().Format("2006-01-02"), slug(fmt.Sprintf("%s %d cpu", processor(), runtime.NumCPU()))))
	}
	if err := os.WriteFile(path, []byte(r.String()), 0o644); err != nil {
		return fmt.Errorf("the report can't be saved: %w", err)
	}
	return nil
}

// load returns the system's load average of the last minute: with other load, measurements
// mean little.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// processor returns the system's name of the processor.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				return strings.TrimSpace(v)
			}
		}
	}
	return "unknown CPU"
}

// slug returns words as a file name.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
}
