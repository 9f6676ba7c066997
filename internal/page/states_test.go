package page

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// recordPingPong records two goroutines that wake each other n times.
func recordPingPong(t *testing.T, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.scope")
	stop := recordtest.Begin(t, path, gotrace.With())
	ping, pong := make(chan bool), make(chan bool)
	go func() {
		defer close(pong)
		defer scope.Task("pong")()
		for range ping {
			pong <- true
		}
	}()
	end := scope.Task("ping")
	for range n {
		ping <- true
		<-pong
	}
	close(ping)
	<-pong
	end()
	stop()
	return path
}

func pingPong(t *testing.T, n int) *trace.Trace {
	t.Helper()
	return tracetest.OpenFile(t, recordPingPong(t, n))
}

// TestStates: the file has the goroutines' states, as finely as possible, without reducing
// the scopes.
func TestStates(t *testing.T) {
	tr := pingPong(t, 10_000)
	page := written(t, tr, Options{})
	all := dataOf(t, page)
	if n := all.counts["state"]; n < 20_000 || all.counts["stateMany"] != 0 {
		t.Fatalf("%d states of 20,000 waits, merged %d", n, all.counts["stateMany"])
	}
	some := dataOf(t, written(t, tr, Options{Max: 1000}))
	if n := some.counts["state"]; n > 1000 || n < 100 || some.sum("stateMany") < uint64(all.counts["state"]) || some.Meta.Reduced {
		t.Errorf("of %d states %d stand for %d, the scopes are reduced: %v", all.counts["state"], n, some.sum("stateMany"), some.Meta.Reduced)
	}
	merged := func(h *held) (there bool) {
		for _, b := range h.Meta.Banner {
			there = there || strings.Contains(b.Text, "Of goroutines' states")
		}
		return there
	}
	if merged(all) || !merged(some) {
		t.Errorf("the banner mentions merging: %v where there is none, %v where there is", merged(all), merged(some))
	}
	least := written(t, tr, Options{Max: 100})
	limit := int64(len(page)+len(least)) / 2
	small := written(t, tr, Options{limit: limit})
	if h := dataOf(t, small); int64(len(small)) > limit || h.Meta.Reduced || h.counts["start"] != all.counts["start"] {
		t.Errorf("%d bytes, limit %d, %d scopes of %d", len(small), limit, h.counts["start"], all.counts["start"])
	}
}

// TestLongGoTrace: for a long Go execution trace a file has the states, and reports what it
// lacks.
func TestLongGoTrace(t *testing.T) {
	defer func(was int64) { longGoTrace = was }(longGoTrace)
	longGoTrace = 1000
	tr := pingPong(t, 1000)
	d := dataOf(t, written(t, tr, Options{}))
	if d.counts["state"] < 2000 || d.counts["at"] != 0 || !strings.Contains(d.text, `"error":"The Go execution trace is long`) || !strings.Contains(d.text, "its samples and waits are not in this file") {
		t.Errorf("%v", d.counts)
	}
	part := dataOf(t, written(t, tr, Options{Selection: analysis.Selection{To: 1 << 40}}))
	if part.counts["at"] == 0 || strings.Contains(part.text, `"error":"The Go execution trace is long`) {
		t.Errorf("a part: %v", part.counts)
	}
}
