package main

import (
	"bytes"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
)

// instantTable tells how often events happened.
func (r *topReport) instantTable(w *bytes.Buffer, s styles) error {
	if len(r.instants) == 0 {
		return nil
	}
	w.WriteByte('\n')
	t := newTable("<event", "count", "per second", "first", "last", "to come")
	shown := r.shown(len(r.instants))
	for _, x := range r.instants[:shown] {
		name := shorten(show(r.t.Name(x.Name)), nameWidth)
		if x.Kind == format.KindPending {
			name += " (pending)"
		}
		row := []string{name, thousands(x.Count), "-", "-", "-", ""}
		if x.Count > 0 {
			row[3], row[4] = humane(x.First), humane(x.Last)
		}
		if rate, ok := perSecond(x); ok {
			row[2] = number(rate)
		}
		if x.Announced > 0 {
			row[5] = thousands(x.Announced)
		}
		t.add(row...)
	}
	if err := t.write(w, s); err != nil {
		return err
	}
	w.WriteString(more(len(r.instants), shown, "event"))
	return nil
}

// perSecond is the rate between the first and the last; ok is false for one.
func perSecond(x *analysis.Instants) (rate float64, ok bool) {
	if x.Last <= x.First {
		return 0, false
	}
	return float64(x.Count-1) / (float64(x.Last-x.First) / 1e9), true
}

// counterTable tells the values of counters.
func (r *topReport) counterTable(w *bytes.Buffer, s styles) error {
	if len(r.counters) == 0 {
		return nil
	}
	w.WriteByte('\n')
	t := newTable("<counter", "count", "min", "max", "last")
	shown := r.shown(len(r.counters))
	for _, c := range r.counters[:shown] {
		t.add(shorten(show(r.t.Name(c.Name)), nameWidth), thousands(c.Count), number(c.Min), number(c.Max), number(c.Last))
	}
	if err := t.write(w, s); err != nil {
		return err
	}
	w.WriteString(more(len(r.counters), shown, "counter"))
	return nil
}

// number is a value of any size: whole ones with commas, others with four digits.
func number(v float64) string {
	if v == float64(int64(v)) && v > -1e15 && v < 1e15 {
		return thousands(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

type instantJSON struct {
	Name      string `json:"name"`
	Pending   bool   `json:"pending"` // scope.Pending
	Count     int64  `json:"count"`
	Announced int64  `json:"to_come"`
	First     int64  `json:"first_ns"`
	Last      int64  `json:"last_ns"`
}

type counterJSON struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Min   any    `json:"min"` // a number, or "NaN", "+Inf", "-Inf"
	Max   any    `json:"max"`
	Last  any    `json:"last"`
}

func (r *topReport) instantsJSON() []instantJSON {
	list := []instantJSON{}
	for _, x := range r.instants[:r.shown(len(r.instants))] {
		list = append(list, instantJSON{r.t.Name(x.Name), x.Kind == format.KindPending, x.Count, x.Announced, x.First, x.Last})
	}
	return list
}

func (r *topReport) countersJSON() []counterJSON {
	list := []counterJSON{}
	for _, c := range r.counters[:r.shown(len(r.counters))] {
		list = append(list, counterJSON{r.t.Name(c.Name), c.Count, jsonNumber(c.Min), jsonNumber(c.Max), jsonNumber(c.Last)})
	}
	return list
}

// jsonNumber is v, or its text where JSON has no number for it.
func jsonNumber(v float64) any {
	if v-v != 0 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return v
}
