package main

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// verdicts is the table of a comparison.
type verdicts struct {
	machine hardware
	when    time.Time
	short   bool
	old     string
	rounds  int
	sheet   sheet
	bad     int
}

func (t *verdicts) add(s *session, results []comparison) {
	var lines [][]string
	for i := range results {
		cells, verdict := results[i].cells(&s.rows[i])
		if verdict == verdictWorse || verdict == verdictFail {
			t.bad++
		}
		lines = append(lines, cells)
	}
	t.sheet = append(t.sheet, section{s.part, lines})
}

// worse counts the rows that fail.
func (t *verdicts) worse() int { return t.bad }

func (t *verdicts) print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "scopeview's hot path, old and new in turn, %s\n%s", t.when.UTC().Format("2006-01-02 15:04 UTC"), t.machine)
	fmt.Fprintf(&b, "old is %s, new the working tree; medians of %d rounds, each with another random layout of both programs;\n", t.old, t.rounds)
	fmt.Fprintf(&b, "a ratio is the median of pairs of neighbouring slices, and lies in its interval with a probability of 95 %%\n")
	if t.short {
		b.WriteString("a short run: for a first look only\n")
	}
	t.sheet.print(&b, []string{"", "old", "new", "ratio", "interval", fmt.Sprintf("≤ %.2f", judgedRatio), "verdict", ""})
	_, err := w.Write(b.Bytes())
	return err
}
