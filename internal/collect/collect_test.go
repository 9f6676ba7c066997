//go:build !scope_off

package collect_test

import (
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// watcher is a collector that records the calls of its methods.
type watcher struct {
	t     *testing.T
	rec   collect.Recording
	busy  atomic.Int32 // calls running now
	calls []string     // repeated calls of one method are listed once
	ticks atomic.Int32
	room  bool // whether there was room for a block at Stop
}

func (w *watcher) call(name string) {
	if w.busy.Add(1) != 1 {
		w.t.Errorf("%s is called while another call runs", name)
	}
	defer w.busy.Add(-1)
	if n := len(w.calls); n == 0 || w.calls[n-1] != name {
		w.calls = append(w.calls, name)
	}
	time.Sleep(time.Millisecond) // gives other calls time to overlap
}

func (w *watcher) Start(rec collect.Recording) {
	w.rec = rec
	rec.Fact("watched", "first")
	w.call("start")
}

func (w *watcher) Beat() {
	w.call("tick")
	w.ticks.Add(1)
}

func (w *watcher) Snapshot() { w.call("snapshot") }

func (w *watcher) Stop() {
	w.rec.Fact("watched", "last")
	w.room = w.rec.Block(format.BlockGoTrace, format.AppendGoTrace(nil, 1, 0, []byte("the end")))
	w.call("stop")
}

// TestCollector records with a collector, in a ring and without, and checks the
// documented order of calls and effects of Recording.
func TestCollector(t *testing.T) {
	for name, ring := range map[string]int64{"whole": 0, "ring": 4 << 20} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.scope")
			w := &watcher{t: t}
			opts := []scope.Option{func(o *record.Options) { o.AddCollector(w) }, scope.WithHeartbeat(10 * time.Millisecond)}
			if ring > 0 {
				opts = append(opts, scope.WithRing(ring))
			}
			if err := scope.Start(path, opts...); err != nil {
				t.Fatal(err)
			}
			scope.Task("f")()
			if w.rec.Ring() != ring {
				t.Errorf("a ring of %d bytes, want %d", w.rec.Ring(), ring)
			}
			worked := false
			w.rec.Work(func() { worked = true })
			if !worked {
				t.Error("Work did nothing")
			}
			wait := func(n int32) {
				for end := time.Now().Add(10 * time.Second); w.ticks.Load() < n; time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("there is no heartbeat")
					}
				}
			}
			wait(2)
			want := []string{"start", "tick", "stop"}
			if ring > 0 {
				for i := range 5 { // between beats
					if err := scope.Snapshot(filepath.Join(dir, string(rune('a'+i)))); err != nil {
						t.Fatal(err)
					}
				}
				wait(w.ticks.Load() + 2)
				want = []string{"start", "tick", "snapshot", "stop"}
			}
			if err := scope.Stop(); err != nil {
				t.Fatal(err)
			}
			if w.calls[0] != "start" || w.calls[len(w.calls)-1] != "stop" {
				t.Errorf("called %q", w.calls)
			}
			got := slices.Clone(w.calls)
			slices.Sort(got)
			slices.Sort(want)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("called %q, want %q", got, want)
			}
			tr := tracetest.OpenFile(t, path)
			if got := tr.Lookup("watched"); got != "last" {
				t.Errorf("the fact is %q", got)
			}
			if !w.room || ended(t, tr) != "the end" {
				t.Errorf("of the block that was written at Stop there is %q; there was room: %t", ended(t, tr), w.room)
			}
		})
	}
}

// ended returns the first bytes of the trace's one Go execution trace.
func ended(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	all := tr.GoTraces()
	if len(all) != 1 {
		t.Fatalf("%d Go execution traces", len(all))
	}
	b := make([]byte, 64)
	n, _ := all[0].Reader().Read(b)
	return string(b[:n])
}
