package otlp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// request has the fields of a request that the tests read.
type request struct {
	ResourceSpans []struct {
		ScopeSpans []struct{ Spans []sent }
	}
}

type sent struct {
	TraceID      string
	SpanID       string
	ParentSpanID string
	Name         string
	Start        string `json:"startTimeUnixNano"`
	End          string `json:"endTimeUnixNano"`
	Events       []struct{ Name string }
	Dropped      int `json:"droppedEventsCount"`
}

// times returns the begin and the end.
func (s *sent) times(t *testing.T) (start, end int64) {
	t.Helper()
	start, err := strconv.ParseInt(s.Start, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	end, err = strconv.ParseInt(s.End, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return start, end
}

// export returns the spans of a trace, all of them or those with a link, and the requests.
func export(t *testing.T, tr *trace.Trace, all bool) (list []sent, requests []string, sum Sum) {
	t.Helper()
	sum, err := Write(t.Context(), tr, Options{Unlinked: all}, func(b []byte) error {
		var r request
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		spans := r.ResourceSpans[0].ScopeSpans[0].Spans
		if len(spans) > maxSpans || strings.Contains(string(b), "\n") {
			t.Errorf("a request of %d spans in %d lines", len(spans), 1+strings.Count(string(b), "\n"))
		}
		list, requests = append(list, spans...), append(requests, string(b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if int(sum.Spans) != len(list) {
		t.Errorf("%d spans, and it says %d", len(list), sum.Spans)
	}
	return list, requests, sum
}

// TestEachScopeOnce: in traces of all kinds each scope is one span, within its parent, with
// unique ids that are the same in the next export.
func TestEachScopeOnce(t *testing.T) {
	traces := map[string][]byte{"hostile": tracetest.Hostile(t)}
	for seed := range uint64(20) {
		traces[fmt.Sprint("random ", seed)] = tracetest.Random(t, seed, seed%2 == 1)
	}
	for name, data := range traces {
		tr := tracetest.Open(t, data)
		want, linked := 0, map[string]bool{}
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			switch e.Kind {
			case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold:
				want++
				if l, ok := e.Link(); ok {
					linked[fmt.Sprintf("%x", l.Span)] = true
				}
			}
		}
		list, requests, _ := export(t, tr, true)
		if len(list) != want {
			t.Errorf("%s: %d spans of %d scopes", name, len(list), want)
		}
		if _, again, _ := export(t, tracetest.Open(t, data), true); !slices.Equal(requests, again) {
			t.Errorf("%s: the second time it is something else", name)
		}
		byID := map[string]*sent{}
		for i := range list {
			s := &list[i]
			if byID[s.SpanID] != nil && !linked[s.SpanID] {
				t.Errorf("%s: two spans have the id %s", name, s.SpanID)
			}
			byID[s.SpanID] = s
		}
		for i := range list {
			s := &list[i]
			p := byID[s.ParentSpanID]
			if linked[s.SpanID] || s.ParentSpanID == "" {
				continue
			}
			if p == nil || p.TraceID != s.TraceID {
				t.Errorf("%s: %s has the parent %s, which is %v", name, s.SpanID, s.ParentSpanID, p)
				continue
			}
			start, end := s.times(t)
			if from, to := p.times(t); from > start || to < end {
				t.Errorf("%s: %s is not in its parent: %d to %d, in %d to %d", name, s.SpanID, start, end, from, to)
			}
		}
	}
}

// TestManyEvents: a span keeps the first events, and counts the others.
func TestManyEvents(t *testing.T) {
	var b strings.Builder
	b.WriteString("header chunk=65536 pid=42 wall=1700000000000000000\nstate closed=1 tick=900000\nchunk blocks sealed\nname 2 \"f\"\nname 3 \"e\"\nstop ticks=900000\n" +
		"chunk records owner=0 since=1000 flags=ends,final sealed\ntask \"f\" g=7 start=2000 stop=800000 cpu=0/unknown | addr:1 addr:2 addr:3 addr:0\n")
	for i := range maxEvents + 5 {
		fmt.Fprintf(&b, "event \"e\" g=7 start=%d\n", 3000+i)
	}
	for i := range maxSpans + 1 {
		fmt.Fprintf(&b, "task \"f\" g=%d start=%d stop=%d cpu=0/unknown | addr:1 addr:2 addr:%d addr:3\n", 8+i%3, 10_000+10*i, 10_005+10*i, 100+i)
	}
	list, requests, sum := export(t, tracetest.OpenText(t, b.String()), false)
	last := list[len(list)-1]
	if last.SpanID != "0000000000000003" || len(last.Events) != maxEvents || last.Dropped != 5 || sum.Events != maxEvents || sum.Dropped != 5 {
		t.Errorf("%+v, %+v", last.SpanID, sum)
	}
	if len(list) != maxSpans+2 || len(requests) != 2 {
		t.Errorf("%d spans in %d requests", len(list), len(requests))
	}
}

// TestStops: an error of send, or a done context, ends the export.
func TestStops(t *testing.T) {
	tr := tracetest.Open(t, tracetest.Random(t, 1, false))
	full := errors.New("full")
	if _, err := Write(t.Context(), tr, Options{Unlinked: true}, func([]byte) error { return full }); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	big := tracetest.Open(t, tracetest.Bulk(20, false))
	if _, err := Write(ctx, big, Options{Unlinked: true}, func([]byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
