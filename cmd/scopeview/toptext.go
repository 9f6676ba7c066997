package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
)

// text writes the tables for people.
func (r *topReport) text(w io.Writer, s styles) error {
	var b bytes.Buffer
	if err := health(&b, r.t, s); err != nil {
		return err
	}
	if len(r.stats) == 0 {
		b.WriteString("no scopes\n")
	} else if err := r.scopes(&b, s); err != nil {
		return err
	}
	if len(r.locks) > 0 {
		b.WriteByte('\n')
		if err := r.lockTable(&b, s); err != nil {
			return err
		}
	}
	if err := r.instantTable(&b, s); err != nil {
		return err
	}
	if err := r.counterTable(&b, s); err != nil {
		return err
	}
	for _, f := range r.census.Forgotten() {
		fmt.Fprintf(&b, "\n%s\n", s.yellow(analysis.Hint(r.t.Name(f.Name), f)))
	}
	_, err := b.WriteTo(w)
	return err
}

func (r *topReport) scopes(w *bytes.Buffer, s styles) error {
	head := "<name"
	if r.byTrack {
		head = "<track"
	}
	t := newTable(head, "count", "total", "self", "mean", "min", "p50", "p90", "p99", "max", "cpu", "known", "cpu/wall", "cpu max", "open")
	shown := r.shown(len(r.stats))
	for _, x := range r.stats[:shown] {
		row := []string{r.title(x), thousands(x.Count)}
		if x.Count == 0 {
			row = append(row, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "")
		} else {
			row = append(row, humane(x.Total), self(x), humane(x.Mean()), humane(x.Times.Min()),
				humane(x.Times.Quantile(0.5)), humane(x.Times.Quantile(0.9)), humane(x.Times.Quantile(0.99)), humane(x.Times.Max()))
			row = append(row, cpuCells(x)...)
		}
		t.add(append(row, openCell(x))...)
	}
	if err := t.write(w, s); err != nil {
		return err
	}
	w.WriteString(more(len(r.stats), shown, strings.TrimPrefix(head, "<")))
	return nil
}

// self is the self time; "-" where no scope's goroutine is known, and with a "+"
// where that of some is not.
func self(x *analysis.Stats) string {
	switch {
	case x.NoSelf == 0:
		return humane(x.Self)
	case x.NoSelf >= x.Count+x.Open+x.Across:
		return "-"
	}
	return humane(x.Self) + "+"
}

// cpuCells are cpu, known, cpu/wall, cpu max.
func cpuCells(x *analysis.Stats) []string {
	cells := []string{"-", "-", "-", ""}
	if ratio, ok := x.PerWall(); ok {
		cells[0], cells[2] = humane(x.CPU), strconv.FormatFloat(ratio, 'f', 2, 64)
	}
	if share, ok := x.Coverage(); ok {
		cells[1] = percent(share)
	}
	if x.AtMostWall > 0 {
		cells[3] = "≤ " + humane(x.AtMost)
	}
	return cells
}

func openCell(x *analysis.Stats) string {
	if x.Open == 0 {
		return ""
	}
	text := thousands(x.Open) + " for " + humane(x.OpenTime)
	if x.OpenSelf > 0 && x.OpenSelf < x.OpenTime {
		text += ", self " + humane(x.OpenSelf)
	}
	return text
}

func (r *topReport) lockTable(w *bytes.Buffer, s styles) error {
	t := newTable("<lock", "waits", "wait total", "wait max", "holds", "hold total", "hold max", "waiting", "held now", "<held by")
	shown := r.shown(len(r.locks))
	for _, l := range r.locks[:shown] {
		t.add(shorten(show(r.t.Name(l.Name)), nameWidth),
			thousands(l.Waits.Count), humane(l.Waits.Total), humane(l.Waits.Max),
			thousands(l.Holds.Count), humane(l.Holds.Total), humane(l.Holds.Max),
			still(l.Waits), still(l.Holds), r.heldBy(l))
	}
	if err := t.write(w, s); err != nil {
		return err
	}
	w.WriteString(more(len(r.locks), shown, "lock"))
	return nil
}

// still tells of waits or holds that have not ended.
func still(p analysis.Periods) string {
	if p.Open == 0 {
		return ""
	}
	return thousands(p.Open) + " for " + humane(p.OpenTime)
}

// holdersShown is how many scopes "held by" names.
const holdersShown = 3

func (r *topReport) heldBy(l *analysis.Lock) string {
	var texts []string
	for i, h := range l.HeldBy() {
		if i == holdersShown {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, r.holder(h.HolderKey)+" "+percent(h.Share))
	}
	return strings.Join(texts, ", ")
}

func (r *topReport) holder(h analysis.HolderKey) string {
	name := shorten(show(r.t.Name(h.Name)), nameWidth)
	switch h.Kind {
	case 0:
		return "(no scope)"
	case format.KindWait:
		return "waiting for " + name
	}
	return name
}
