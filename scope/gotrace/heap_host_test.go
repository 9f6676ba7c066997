//go:build !scope_off

package gotrace_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	scopetrace "github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

var held [][]byte

//go:noinline
func holds(n int) (list [][]byte) {
	for range n {
		list = append(list, make([]byte, 64<<10))
	}
	return list
}

// heldBy sums up a counter over the stacks whose innermost function is holds: all samples, and the
// last one of each stack.
func heldBy(t *testing.T, path, counter string) (sum, level int64) {
	t.Helper()
	tracetest.Verify(t, path)
	tr := tracetest.OpenFile(t, path)
	last := map[uint32]int64{}
	err := tr.EachSample(func(x *scopetrace.Sample) bool {
		if fs := tr.AppendFrames(nil, x.Stack); x.Counter == counter && len(fs) > 0 && strings.HasSuffix(fs[0].Function, ".holds") {
			sum += x.Weight
			last[x.Stack] = x.Weight
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
	for _, v := range last {
		level += v
	}
	return sum, level
}

func sampleAll(t *testing.T) {
	old := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	t.Cleanup(func() { runtime.MemProfileRate, held = old, nil })
}

// TestHeapBackings reads the profile while goroutines allocate, with the default backing and the
// heap.
func TestHeapBackings(t *testing.T) {
	sampleAll(t)
	for _, backing := range []scope.Option{nil, scope.WithBacking(scope.HeapBacking)} {
		runtime.MemProfileRate = 1
		r := begin(t, gotrace.With(gotrace.WithHeap()), backing)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					holds(5)
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		held = holds(10)
		runtime.MemProfileRate = 1 << 30 // looking up the names of stacks allocates too
		for range 3 {
			runtime.GC()
		}
		r.stop()
		alloc, _ := heldBy(t, r.path, format.AllocBytes)
		_, inUse := heldBy(t, r.path, format.InUseBytes)
		if alloc < 410<<16 || alloc > 411<<16 || inUse < 10<<16 || inUse > 11<<16 {
			t.Errorf("%d blocks were allocated, want 410; %d are in use, want 10", alloc>>16, inUse>>16)
		}
		held = nil
	}
}

// TestHeapRing: a snapshot of a ring has what is in use, however long ago it was allocated.
func TestHeapRing(t *testing.T) {
	sampleAll(t)
	held = holds(10)
	for range 3 {
		runtime.GC()
	}
	// No heartbeat during the snapshot: the snapshot would wait for it, and make no room
	// meanwhile.
	r := begin(t, gotrace.With(gotrace.WithHeap()), scope.WithRing(scope.MinRing), scope.WithHeartbeat(time.Hour))
	runtime.MemProfileRate = 1 << 30
	const scopes = 3 * scope.MinRing / 32
	if err := scope.Snapshot(filepath.Join(t.TempDir(), "early.scope")); err != nil {
		t.Fatal(err)
	}
	for range scopes {
		scope.Task("over")()
	}
	path := filepath.Join(t.TempDir(), "snapshot.scope")
	if err := scope.Snapshot(path); err != nil {
		t.Fatal(err)
	}
	r.stop()
	runtime.KeepAlive(held)
	if _, inUse := heldBy(t, path, format.InUseBytes); inUse < 10<<16 || inUse > 11<<16 {
		t.Errorf("%d blocks are in use, want 10", inUse>>16)
	}
	n := int64(0)
	err := tracetest.OpenFile(t, path).Events(scopetrace.Options{}, func(*scopetrace.Event) bool { n++; return true })
	if err != nil || n == 0 || n > scopes/2 {
		t.Errorf("%v; of %d scopes %d are there", err, scopes, n)
	}
}

// TestHeapOnlyIfWanted: Go's linker switches the heap profile off in a program that can't read it.
// With without WithHeap leaves it off.
func TestHeapOnlyIfWanted(t *testing.T) {
	for tags, want := range map[string]string{"": "0", "withheap": "524288"} {
		dir := t.TempDir()
		program := filepath.Join(dir, "linked")
		if out, err := exec.Command("go", "build", "-tags", tags, "-o", program, "./testdata/linked").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command(program, filepath.Join(dir, "x.scope")).CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("tags %q: %v; there is a sample after %s bytes, want %s", tags, err, out, want)
		}
	}
}
