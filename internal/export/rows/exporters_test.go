package rows_test

import (
	"bytes"
	"context"
	stdcsv "encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/csv"
	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// drawn is the content of a file, whatever its format.
type drawn struct {
	slices   []slice
	instants map[string]int // by category and name
	counters map[string]int
	flows    map[string]int // by name; only those with an end
}

type slice struct {
	kind, name string
	row        string
	start, end int64 // an open one's end is the trace's
	open       bool
}

// TestExporters: chrome and perfetto draw what the CSV lists, each scope with its times, and
// on every row all scopes nest.
func TestExporters(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			tr := tracetest.Open(t, s.data)
			want := listed(t, tr)
			if open := slices.ContainsFunc(want.slices, func(s slice) bool { return s.open }); strings.HasSuffix(s.name, "killed") && !open {
				t.Error("nothing was open when it was killed")
			}
			var b bytes.Buffer
			if _, err := chrome.Write(context.Background(), &b, tr, rows.Options{}); err != nil {
				t.Fatal(err)
			}
			json := readChrome(t, b.Bytes())
			checkSamples(t, "chrome", chromeSamples(t, b.Bytes()), wantSamples(t, tr, true))
			t.Run("chrome", func(t *testing.T) { check(t, json, want) })
			size := b.Len()
			b.Reset()
			if _, err := perfetto.Write(context.Background(), &b, tr, rows.Options{}); err != nil {
				t.Fatal(err)
			}
			proto := readPerfetto(t, b.Bytes(), tr.End())
			checkSamples(t, "perfetto", perfettoSamples(t, b.Bytes()), wantSamples(t, tr, false))
			for i := range want.slices { // a scope that ends with its process has an end there
				s := &want.slices[i]
				s.open = s.open && s.end == tr.End()
			}
			t.Run("perfetto", func(t *testing.T) { check(t, proto, want) })
			if !maps.Equal(json.flows, proto.flows) {
				t.Errorf("flows %v in JSON, %v in protobuf", json.flows, proto.flows)
			}
			t.Logf("%d scopes; JSON %d bytes, protobuf %d; flows %v", len(want.slices), size, b.Len(), json.flows)
		})
	}
}

func check(t *testing.T, got, want *drawn) {
	nests(t, got.slices)
	if g, w := counts(got.slices), counts(want.slices); !maps.Equal(g, w) {
		t.Errorf("scopes by name: %v, want %v", g, w)
	}
	if g, w := times(got.slices), times(want.slices); !slices.Equal(g, w) {
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Errorf("the first that differs: %s, want %s", g[i], w[i])
				break
			}
		}
		t.Errorf("%d scopes, want %d", len(g), len(w))
	}
	if !maps.Equal(got.instants, want.instants) {
		t.Errorf("instants %v, want %v", got.instants, want.instants)
	}
	if !maps.Equal(got.counters, want.counters) {
		t.Errorf("counters %v, want %v", got.counters, want.counters)
	}
}

// nests replays every row.
func nests(t *testing.T, all []slice) {
	t.Helper()
	byRow := map[string][]slice{}
	for _, s := range all {
		byRow[s.row] = append(byRow[s.row], s)
	}
	for row, list := range byRow {
		slices.SortStableFunc(list, func(a, b slice) int { return int(a.start - b.start) })
		var stack []slice
		for _, s := range list {
			for len(stack) > 0 && stack[len(stack)-1].end <= s.start {
				stack = stack[:len(stack)-1]
			}
			if n := len(stack); n > 0 && stack[n-1].end < s.end {
				t.Fatalf("row %s: %v overlaps %v", row, s, stack[n-1])
			}
			stack = append(stack, s)
		}
	}
}

func counts(all []slice) map[string]int {
	m := map[string]int{}
	for _, s := range all {
		m[s.kind+" "+s.name]++
	}
	return m
}

func times(all []slice) []string {
	var list []string
	for _, s := range all {
		list = append(list, fmt.Sprintf("%012d %s %q to %d open %v", s.start, s.kind, s.name, s.end, s.open))
	}
	slices.Sort(list)
	return list
}

// listed returns the content of the CSV.
func listed(t *testing.T, tr *trace.Trace) *drawn {
	t.Helper()
	var b bytes.Buffer
	if err := csv.Write(context.Background(), &b, tr, csv.Options{Raw: true}); err != nil {
		t.Fatal(err)
	}
	table, err := stdcsv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	d := &drawn{instants: map[string]int{}, counters: map[string]int{}}
	for _, cells := range table[1:] {
		kind, name := cells[0], unix(cells[1])
		start, _ := strconv.ParseInt(cells[6], 10, 64)
		switch kind {
		case "event", "pending":
			d.instants[kind+" "+name]++
		case "counter":
			d.counters[name]++
		case "heartbeat":
		default:
			dur, err := strconv.ParseInt(cells[7], 10, 64)
			if err != nil { // across a step of the clock the CSV has no duration
				dur = durationAt(tr, start)
			}
			d.slices = append(d.slices, slice{kind: kind, name: name, start: start, end: start + dur, open: cells[10] == "true"})
		}
	}
	return d
}

func durationAt(tr *trace.Trace, start int64) (dur int64) {
	_ = tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Start == start && len(tr.Breaks()) > 0 && e.Start < tr.Breaks()[0].To && e.Start+e.Dur > tr.Breaks()[0].From {
			dur = e.Dur
		}
		return true
	})
	return dur
}

// unix replaces \r\n by \n, as a CSV reader does.
func unix(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
