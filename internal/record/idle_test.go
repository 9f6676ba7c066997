//go:build !scope_off && !race && !scope_pure

package record_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/heartbeat"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	. "github.com/scopeview/scopeview/scope"
)

// TestG40Rest makes the recorder believe that a running program is deadlocked: the next record ends
// its pause, and so does the garbage collector. Nothing is lost, and heartbeats continue
// afterwards.
func TestG40Rest(t *testing.T) {
	for name, options := range map[string][]Option{
		"default": nil,
		"disk":    {WithBacking(DiskBacking)},
		"heap":    {WithBacking(HeapBacking)},
		"ring":    {WithRing(MinRing)},
	} {
		t.Run(name, func(t *testing.T) {
			var looks atomic.Int64 // the second of each pair is the last before a pause
			record.LookAsleep(t, func(*heartbeat.Sampler) bool { looks.Add(1); return true })
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			start(t, append(options, WithHeartbeat(10*time.Millisecond))...)
			const rests = 5
			for i := range rests {
				awaitLooks(t, &looks, int64(2*i+2))
				Task(fmt.Sprint("after ", i))()
			}
			awaitLooks(t, &looks, 2*rests+2)
			runtime.GC()
			awaitLooks(t, &looks, 2*rests+4)
			r := stop(t)
			tr := tracetest.OpenFile(t, Path())
			beats := len(tr.Beats())
			for i := range rests {
				if n := len(r.named(fmt.Sprint("after ", i))); n != 1 {
					t.Errorf("%d scopes after rest %d, want 1", n, i)
				}
			}
			if least := 2 * (rests + 2); beats < least {
				t.Errorf("%d heartbeats, want at least %d", beats, least)
			}
			if r.Lookup("deadlock") != "" {
				t.Error("the trace says that there was a deadlock")
			}
		})
	}
}

func awaitLooks(t *testing.T, n *atomic.Int64, least int64) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); n.Load() < least; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the recorder has looked %d times, want %d: its rest did not end", n.Load(), least)
		}
	}
}
