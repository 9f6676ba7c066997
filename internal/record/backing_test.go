//go:build !scope_off

package record_test

import (
	"path"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// perBacking runs a test with every backing that the build has: the mapped file and
// the mapped hot file, with the assembly path if there is one, and the heap with
// the Go path.
func perBacking(t *testing.T, f func(t *testing.T, backing Option)) {
	if record.HaveDisk {
		t.Run("disk", func(t *testing.T) { f(t, WithBacking(DiskBacking)) })
		t.Run("shm", func(t *testing.T) { f(t, WithBacking(ShmBacking)) })
	}
	t.Run("heap", func(t *testing.T) { f(t, WithBacking(HeapBacking)) })
}

// fastNow reports whether the running recording uses the assembly path.
func fastNow() bool { return record.Current.Load().Fast() != nil }

// until polls until ok returns true, for as long as a loaded machine may take.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// breathe waits until the flusher has filled the window: until a round that began
// after the call has ended. It is for tests that write much and must lose nothing
// on a busy machine; they use shortTicks.
func breathe(t testing.TB) {
	t.Helper()
	for range 2 {
		tick := &record.Current.Load().Header()[format.StateTick/8]
		was := atomic.LoadUint64(tick)
		until(t, "a round of the flusher", func() bool { return atomic.LoadUint64(tick) != was })
	}
}

// atOnce is the number of records that may be written between two calls of breathe:
// a third of the smallest window.
const atOnce = 1 << 20 / format.RecordSize

func shortTicks() Option { return WithFlushEvery(10 * time.Millisecond) }

// TestPath checks that each build and each backing uses the expected path, and
// records why if that is not the fastest.
func TestPath(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		Task("a")()
		r := stop(t)
		h := r.Header()
		want, wantBacking := wantPath, path.Base(t.Name())
		if record.Current.Load().Pool().Heap() {
			want = max(want, format.PathGo)
		}
		if h.Path != want || h.Backing.String() != wantBacking {
			t.Errorf("the header says %v path, %v backing, want %v and %v; reasons: path %q, clock %q, backing %q",
				h.Path, h.Backing, want, wantBacking, r.Lookup("path_reason"), r.Lookup("clock_reason"), r.Lookup("backing_reason"))
		}
		if reason := r.Lookup("path_reason"); (h.Path == format.PathAssembly) != (reason == "") {
			t.Errorf("the %v path is explained by %q", h.Path, reason)
		}
		if h.Witness&format.WitnessGoid == 0 {
			t.Error("goroutine ids are said to be unknown")
		}
		if yield := h.Witness&format.WitnessYield != 0; yield != (h.Path == format.PathAssembly) {
			t.Errorf("yield witness: %t on the %v path", yield, h.Path)
		}
		if e := r.named("a"); len(e) != 1 || (e[0].Quality != format.Unknown) && h.Witness&format.WitnessSwitch == 0 {
			t.Errorf("CPU time is known without a witness: %+v", e)
		}
	})
}
