//go:build !scope_off

package gotrace_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// turns has goroutines 7 and 8 run in turns of 10 µs, 7 first, for 800 µs from at on.
func turns(at int64) []byte {
	m := newMade().begin(at).
		event(at+10, evGoStatus, 7, 100, running).
		event(at+20, evGoStatus, 8, 0, runnable)
	for i := int64(1); i < 80; i++ {
		m.event(at+i*10_000, evGoStop, 6, 1)
		m.event(at+i*10_000, evGoStart, 7+uint64(i&1), uint64(i+1)/2)
	}
	return m.end().b
}

// TestCheckLate: if the first scope begins long after the stream, it is checked all
// the same, and no more events are kept than otherwise.
func TestCheckLate(t *testing.T) {
	defer gotrace.SetChecked(20, 60)()
	stream := turns(start + 1000)
	// tasksOf returns scopes of a goroutine, of 1 µs, from at ns of the trace on.
	tasksOf := func(goid int, at int64) string {
		return fmt.Sprintf("chunk records sealed\ntask \"t\" g=%d start=%d stop=%d\n", goid, start+at, start+at+1000)
	}
	for _, c := range []struct {
		name    string
		records string
		checked int64
		read    bool
	}{
		{"no scope", "", 0, true},
		{"late", tasksOf(8, 595_000), 2, true},
		{"late, of another process", tasksOf(9, 595_000), 2, false},
		{"early", tasksOf(7, 80_000), 2, true},
		{"after its end", tasksOf(9, 950_000), 0, true},
		{"of no known goroutine", tasksOf(0, 595_000), 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, info := lines(t, tracetest.OpenText(t, in(c.records, stream)))
			if info.Checked != c.checked || (len(got) > 0) != c.read || (len(info.Problems) > 0) == c.read {
				t.Errorf("%d lines, %+v", len(got), info)
			}
		})
	}
}

// TestReadStream reads one of several streams, as if it were alone.
func TestReadStream(t *testing.T) {
	one := shared(newMade(), start+1000).end().b
	other := shared(newMade(), start+2000).end().b
	tr := tracetest.OpenText(t, in("", one, other, []byte("nothing")))
	for stream, want := range map[uint32]struct {
		stretches string
		problem   string
	}{
		1: {stretches: "[{1000 1500}]"},
		2: {stretches: "[{2000 2500}]"},
		3: {stretches: "[]", problem: "Go execution trace 3: it is not a Go execution trace; nothing of it can be read"},
	} {
		n := int64(0)
		info, err := gotrace.ReadStream(tr, stream, gotrace.Handler{Transition: func(*gotrace.Transition) { n++ }})
		if err != nil || fmt.Sprint(info.Stretches) != want.stretches || strings.Join(info.Problems, "\n") != want.problem || n != info.Transitions {
			t.Errorf("%d: %+v, %d changes, %v; want %+v", stream, info, n, err, want)
		}
	}
	if _, err := gotrace.ReadStream(tr, 4, gotrace.Handler{}); !errors.Is(err, gotrace.ErrNone) {
		t.Errorf("%v", err)
	}
}

// TestJoinedStreams: streams that were joined may have been recorded before others.
func TestJoinedStreams(t *testing.T) {
	early, late := shared(newMade(), start+1000).end().b, shared(newMade(), start+2000).end().b
	bad := []byte("go 1.26 trace\x00\x00\x00nothing")
	want, info := lines(t, tracetest.OpenText(t, in("", early, late)))
	if len(info.Problems) > 0 {
		t.Errorf("%q", info.Problems)
	}
	for _, streams := range [][][]byte{{early, late}, {late, early}, {bad, late, early}, {late, bad, early}} {
		text := strings.Replace(in("", streams...), "info ", "info \"joined\" \"x\"\ninfo ", 1)
		got, info := lines(t, tracetest.OpenText(t, text))
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(info.Problems) != len(streams)-2 {
			t.Errorf("got:\n%s\nwant:\n%s\n%q", strings.Join(got, "\n"), strings.Join(want, "\n"), info.Problems)
		}
	}
}

func TestCheckHeader(t *testing.T) {
	for head, want := range map[string]string{
		"go 1.25 trace\x00\x00\x00": "",
		"go 1.26 trace\x00\x00\x00": "",
		"go 1.24 trace\x00\x00\x00": "it is of Go 1.24",
		"go 1.99 trace\x00\x00\x00": "it is of Go 1.99, which this scopeview does not know",
		"go 1.x trace\x00\x00\x00":  "it is not a Go execution trace",
		"go 1.26 trace":             "it is not a Go execution trace",
		"SCOPEVW\x01":               "it is not a Go execution trace",
		"go 1.-1 trace\x00\x00\x00": "it is of Go 1.-1",
		"":                          "it is empty",
	} {
		if err := gotrace.CheckHeader([]byte(head)); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", head, err, want)
		}
	}
}
