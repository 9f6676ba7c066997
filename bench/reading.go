package main

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/scopeview/scopeview/internal/export/csv"
	"github.com/scopeview/scopeview/internal/trace"
)

// readingRows measures reading and CSV on one CPU, from the page cache. Another row measures
// losses while recording.
func readingRows(b *bench) []row {
	n := 10_000_000
	if b.short {
		n = 1_000_000
	}
	var rows []row
	read := func(t tally) error {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		events, err := b.rate(func() (int, error) { return readAll(t.path) }, t.recorded)
		if err != nil {
			return err
		}
		rows = append(rows, rateRow("records read by internal/trace, per CPU", events, 20, 20))
		written, err := b.rate(func() (int, error) { return writeCSV(t.path) }, t.recorded)
		if err != nil {
			return err
		}
		rows = append(rows, rateRow("rows of CSV written, per CPU", written, 4, 2))
		return nil
	}
	if _, err := b.recording(job{run: func() { paced(n, gentle) }, read: read}); err != nil {
		return append(rows, broken("reading", err))
	}
	return rows
}

func rateRow(name string, perSecond, goal, must float64) row {
	q := quantity{perSecond / 1e6, "M/s"}
	return row{name: name, value: q, judge: q, goal: goal, must: must, least: true}
}

// rate is the median of how many things per second do handles; it must handle
// all that were recorded. A first time brings the file into the page cache.
func (b *bench) rate(do func() (int, error), recorded int64) (float64, error) {
	var rates []float64
	for round := range b.rounds + 1 {
		begin := time.Now()
		got, err := do()
		if err != nil {
			return 0, err
		}
		if int64(got) < recorded {
			return 0, fmt.Errorf("%d records came out of a trace of %d", got, recorded)
		}
		if round > 0 {
			rates = append(rates, float64(got)/time.Since(begin).Seconds())
		}
	}
	return median(rates), nil
}

func readAll(path string) (n int, err error) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	err = t.Events(trace.Options{}, func(*trace.Event) bool { n++; return true })
	return n, err
}

func writeCSV(path string) (int, error) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	var rows lines
	err = csv.Write(context.Background(), &rows, t, csv.Options{})
	return int(rows) - 1, err // less the header
}

// lines counts lines.
type lines int

func (l *lines) Write(p []byte) (int, error) {
	*l += lines(bytes.Count(p, []byte("\n")))
	return len(p), nil
}
