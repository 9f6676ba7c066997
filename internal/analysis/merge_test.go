package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestParts: the merged parts of a trace give the sums of the whole, to the nanosecond.
func TestParts(t *testing.T) {
	data := map[string][]byte{"bulk": tracetest.Bulk(6, true)}
	for seed := range uint64(8) {
		data[fmt.Sprint("random ", seed)] = tracetest.Random(t, seed, seed%2 == 1)
	}
	for _, g := range tracetest.Goldens(t, "../trace") {
		data[g.Name] = g.Bytes(t)
	}
	for name, b := range data {
		tr, err := trace.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			continue // a golden that is no trace
		}
		end := tr.End()
		for i, o := range []SummaryOptions{
			{}, {ByTrack: true}, {From: end / 3, To: end / 2}, {ByTrack: true, From: end / 4, To: end / 2, Clip: true},
			{Keep: func(e *trace.Event) bool { return e.Name%2 == 0 }}, {ByTrack: true, Keep: func(e *trace.Event) bool { return e.Track%2 == 0 }},
		} {
			o.Breaks = tr.Breaks()
			run := trace.Options{From: o.From, To: o.To, Running: true}
			whole, census := NewSummary(o), Census{}
			if err := tr.Events(run, func(e *trace.Event) bool { whole.Add(e); census.Add(e); return true }); err != nil {
				t.Fatal(err)
			}
			whole.Finish()
			for _, run.Stretch = range []int{64, 1000, 20_000, 1 << 20} {
				merged, all := NewSummary(o), Census{}
				type part struct {
					sum    *Summary
					census Census
				}
				err := trace.EachPart(tr, run, func() func(*trace.Part) *part {
					return func(x *trace.Part) *part {
						p := &part{sum: NewSummary(o)}
						p.sum.Part(x, p.census.Add)
						return p
					}
				}, func(p *part) bool {
					merged.Merge(p.sum)
					all.Merge(&p.census)
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
				merged.Finish()
				if i == 0 {
					checkCounts(t, name, tr, run.Stretch, &census)
				}
				if got, want := summaryText(merged, &all), summaryText(whole, &census); got != want {
					t.Fatalf("%s, options %d, in parts of %d bytes:\n%s\nwant\n%s", name, i, run.Stretch, got, want)
				}
			}
		}
	}
}

// checkCounts compares a census of events that only count.
func checkCounts(t *testing.T, name string, tr *trace.Trace, stretch int, want *Census) {
	t.Helper()
	var c Census
	err := trace.EachPart(tr, trace.Options{Detail: trace.Counts, Stretch: stretch}, func() func(*trace.Part) *Census {
		return func(x *trace.Part) *Census {
			var c Census
			x.Events(func(e *trace.Event) bool { c.Add(e); return true })
			return &c
		}
	}, func(p *Census) bool { c.Merge(p); return true })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counted(&c), counted(want); got != want {
		t.Fatalf("%s, counted in parts of %d bytes:\n%s\nwant\n%s", name, stretch, got, want)
	}
}

// summaryText returns all fields of a summary as text.
func summaryText(s *Summary, c *Census) string {
	var b bytes.Buffer
	write := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			text = fmt.Append(nil, v) // a counter's value that JSON can't represent
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	for _, x := range s.Stats {
		write(x)
		for q := range 11 {
			fmt.Fprint(&b, x.Times.Quantile(float64(q)/10), " ")
		}
		fmt.Fprint(&b, x.Times.Count(), x.Times.Min(), x.Times.Max(), "\n")
	}
	for _, x := range s.Locks {
		write(x)
		write(x.HeldBy())
	}
	write(s.Instants)
	for _, x := range s.Counters {
		fmt.Fprintln(&b, *x)
	}
	b.WriteString(counted(c))
	return b.String()
}

// counted returns all fields of a census as text.
func counted(c *Census) string {
	text := fmt.Sprintln(c.Kinds, c.Open, c.CPU, c.Forgotten())
	for name, x := range c.names {
		text += fmt.Sprintln(name, x.open, x.ended)
	}
	return text
}
