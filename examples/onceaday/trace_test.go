//go:build !scope_off

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestOneInAMillion: the snapshot has the complete slow request, with the lock that it
// waited for and its holder, and everything of the five seconds before it, or the counts
// of what was lost. In full it is one in a million; else fewer do, at a lower rate.
func TestOneInAMillion(t *testing.T) {
	requests, rate, slow := 120_000, 20_000, 110_000
	if os.Getenv("SCOPEVIEW_FAULT") == "full" {
		requests, rate, slow = 1_000_000, 100_000, 900_000
	}
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"-dir", dir, "-requests", fmt.Sprint(requests), "-rate", fmt.Sprint(rate), "-slow", fmt.Sprint(slow)}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	t.Log(stdout.String())
	list, _ := filepath.Glob(filepath.Join(dir, "slow", "*.scope"))
	var tr *trace.Trace
	for _, path := range list {
		// On a machine that stalls, others may have been slow before.
		x := tracetest.OpenFile(t, path)
		if strings.Contains(x.Lookup("snapshot_reason"), "request took") && has(t, x, slow) {
			tr = x
		}
	}
	if tr == nil {
		if !strings.Contains(stdout.String(), "; 1 were slow") {
			t.Skipf("the machine stalled before the slow request, %d snapshots: %s", len(list), stdout.String())
		}
		t.Fatalf("of %d snapshots none has the slow request", len(list))
	}
	var from, to int64
	var holds [][2]int64 // of the cleaner
	first, next, missing := -1, -1, 0
	parts := map[string]int{}
	each(t, tr, func(e *trace.Event) {
		name, end := tr.Name(e.Name), e.Start+e.Dur
		switch {
		case e.Start < tr.Overwritten().Until:
			// Some of that is overwritten, and some not.
		case name == "request" && !e.Open:
			i := int(e.Args[0].Int())
			if first < 0 {
				first = i
			}
			if next >= 0 && i < next {
				t.Fatalf("request %d comes after %d", i, next-1)
			}
			if next >= 0 {
				missing += i - next
			}
			if next = i + 1; i == slow {
				from, to = e.Start, end
			}
		case name == "cache.mu" && e.Kind == format.KindHold && tr.Name(e.Track) == "cleaner":
			holds = append(holds, [2]int64{e.Start, end})
		}
		if from > 0 && e.Start >= from && end <= to && tr.Name(e.Track) == "server" {
			parts[fmt.Sprintf("%v %s", e.Kind, name)]++
		}
	})
	lost := int64(0)
	for _, n := range tr.Lost() {
		lost += n
	}
	if int64(missing) > lost {
		t.Errorf("%d requests are missing, and the trace counts %d lost records", missing, lost)
	}
	for _, want := range []string{"task request", "task lookup", "wait cache.mu", "hold cache.mu"} {
		if parts[want] != 1 && lost == 0 {
			t.Errorf("in the slow request %q is there %d times", want, parts[want])
		}
	}
	if !slices.ContainsFunc(holds, func(h [2]int64) bool { return h[0] < from && h[1] > from && h[1] <= to }) {
		t.Errorf("no hold of the cleaner ends in the slow request, which lasts from %d to %d", from, to)
	}
	if before := slow - first; before < 5*rate {
		t.Errorf("%d requests before the slow one, want those of five seconds, %d", before, 5*rate)
	}
}

func each(t *testing.T, tr *trace.Trace, f func(*trace.Event)) {
	t.Helper()
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool { f(e); return true }); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, tr *trace.Trace, request int) (found bool) {
	each(t, tr, func(e *trace.Event) {
		found = found || tr.Name(e.Name) == "request" && !e.Open && e.Args[0].Int() == int64(request)
	})
	return found
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{{"-h", 0}, {"-rate 0", 2}, {"more", 2}, {"-nonsense", 2}} {
		var out bytes.Buffer
		if code := run(strings.Fields(c.args), &out, &out); code != c.code {
			t.Errorf("%s: exit %d, want %d", c.args, code, c.code)
		}
	}
}
