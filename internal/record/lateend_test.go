//go:build linux && amd64 && !scope_off && !scope_pure && !race

package record_test

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/step"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestLateEnd suspends a thread at each instruction of an end whose record is in a sealed
// chunk, makes the flusher write that chunk out and release its memory (every second time,
// in a ring: overwrite it), and resumes the thread. The scope has still ended, once, at
// the time of the call, nothing counts as the program's misuse, and no ring carries it as
// open for ever.
func TestLateEnd(t *testing.T) { testLateEnd(t, os.Args[0]) }

// TestLateEndGo is TestLateEnd for the Go path.
func TestLateEndGo(t *testing.T) {
	if !faultfs.Full() {
		t.Skip("builds this test again; SCOPEVIEW_FAULT=full")
	}
	testLateEnd(t, buildTest(t, "scope_go"))
}

func testLateEnd(t *testing.T, binary string) {
	if faultfs.Emulated() || wantPath == format.PathPure {
		t.Skip("an emulator's threads can't be stepped, and the pure path takes 100,000 instructions for a scope")
	}
	for _, c := range []struct {
		name string
		kind BackingKind
	}{{"disk", DiskBacking}, {"shm", ShmBacking}, {"heap", HeapBacking}} {
		for _, ring := range []bool{false, true} {
			if !faultfs.Full() && (c.kind == DiskBacking && !ring || c.kind == HeapBacking && ring) {
				continue // the others cover these
			}
			ways := fmt.Sprintf("steps=late backing=%d", c.kind)
			name := c.name
			if ring {
				ways, name = ways+" ring", name+" ring"
			}
			t.Run(name, func(t *testing.T) { lateEnds(t, binary, ways, ring) })
		}
	}
}

// lateKinds is the number of kinds of scopes: one in the previous chunk of the P, one in
// another P's chunk (the goroutine was moved), one with arguments at its end, and one that
// another goroutine began.
const lateKinds = 4

// lateIn are the functions at whose instructions the thread is stopped.
var lateIn = []string{"internal/sys.end", "internal/sys.EndFast", "internal/sys.Claim", "internal/sys.SwapLocal", "record.endNow", "record.(*recorder).goEnd"}

func lateEnds(t *testing.T, binary, ways string, ring bool) {
	v, err := newVictim(binary, ways, "GOMAXPROCS=4", "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	if err != nil {
		t.Fatal(err)
	}
	defer v.close(t)
	if err := v.says("running"); err != nil {
		t.Fatal(err)
	}
	code, err := readCode(v.cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, err := step.Seize(int(v.steps.tid[0].Load()))
	if err != nil {
		t.Fatal(err)
	}
	v.steps.begin[0].Store(1)
	each := 1
	if !faultfs.Full() {
		each = 61
	}
	ended, stopped := 0, 0
	for over := 0; over < lateKinds; ended++ {
		if ended%lateKinds == 0 {
			over = 0
		}
		stay := ended / lateKinds * each
		there, err := lateStop(thread, code, stay)
		if err == nil && there {
			over++
		} else if err == nil {
			stopped++
			if _, err = v.in.Write([]byte{1}); err == nil {
				err = v.says("gone")
			}
		}
		if err == nil {
			err = thread.ToMark(2)
		}
		if err != nil {
			t.Fatalf("end %d: %v: %s", ended, err, v.err.String())
		}
	}
	v.steps.begin[0].Store(2)
	if err := thread.Detach(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(v.out)
	if err != nil || v.cmd.Wait() != nil {
		t.Fatal(err, v.err.String())
	}
	var all, double, stale, lost, lostEnds int
	if n, _ := fmt.Sscanf(string(rest), "all %d double %d stale %d lost %d ends %d", &all, &double, &stale, &lost, &lostEnds); n != 5 || double+stale+lost+lostEnds != 0 {
		t.Errorf("the program's counters: %s, want nothing lost and no misuse", rest)
	}
	lateFound(t, v.path, all, ring)
	t.Logf("%d ends, at %d of them the thread was stopped", ended, stopped)
}

// lateStop steps to the n-th relevant instruction; there is true if the end was over
// before.
func lateStop(thread *step.Thread, code code, n int) (there bool, err error) {
	if err := thread.ToMark(1); err != nil {
		return false, err
	}
	// After more steps than that, the scheduler has moved the goroutine to another P,
	// because stepping took so long.
	for seen, steps := 0, 0; ; steps++ {
		if steps > 3000 {
			return true, nil
		}
		if there, err := thread.Step(2); there || err != nil {
			return there, err
		}
		f := code.PCToFunc(thread.At())
		if f == nil || !slices.ContainsFunc(lateIn, func(s string) bool { return strings.HasSuffix(f.Name, s) }) {
			continue
		}
		if seen == n {
			return false, nil
		}
		seen++
	}
}

// lateFound checks the scopes whose ends were late.
func lateFound(t *testing.T, path string, all int, ring bool) {
	tr := tracetest.OpenFile(t, path)
	found, next, last := 0, 0, int64(0)
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if tr.Name(e.Name) != "late" {
			continue
		}
		found++
		i, kind := -1, -1 // unknown
		if len(e.Args) > 1 {
			i, kind = int(e.Args[0].Int()), int(e.Args[1].Int())
		}
		switch {
		case e.Open:
			t.Errorf("scope %d, of kind %d, is open", i, kind)
		case !ring && i != next:
			t.Errorf("scope %d is there, want %d", i, next)
		case e.Start < last:
			t.Errorf("scope %d begins at %d, the one before it ended at %d", i, e.Start, last)
		}
		next, last = i+1, e.Start+e.Dur
	}
	if !ring && found != all {
		t.Errorf("%d scopes are there, want %d", found, all)
	}
	for _, p := range tr.Problems() {
		t.Errorf("at %d (%d times): %s", p.Offset, p.Count, p.Text)
	}
	verify(t, path)
}

// late is the victim of TestLateEnd.
func (t *truth) late() {
	r := record.Current.Load()
	var chunk atomic.Int64
	field := reflect.ValueOf(r.Pool()).Elem().FieldByName("wake")
	wake := *(*chan struct{})(unsafe.Pointer(field.UnsafeAddr()))
	round := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
		time.Sleep(100 * time.Microsecond)
	}
	// fill writes n records, no faster than the flusher makes room.
	fill := func(n int) {
		for i := range n + 1 {
			if i%1000 == 0 {
				for !r.Pool().Spacious() {
					round()
				}
			}
			if i > 0 {
				Counter("fill", 0)
			}
		}
	}
	go func() {
		for n := 0; ; n++ {
			if k, err := unix.Read(0, make([]byte, 1)); k != 1 || err != nil {
				return
			}
			idx := chunk.Load()
			for r.Pool().State(idx) != pool.Gone {
				round()
			}
			for r.IsRing() && n%2 == 1 && slices.Contains(r.Pool().Live(nil), idx) {
				fill(4000)
			}
			fmt.Println("gone")
		}
	}()
	runtime.LockOSThread()
	t.steps.tid[0].Store(int64(unix.Gettid()))
	fmt.Println("running")
	for t.steps.begin[0].Load() == 0 {
		time.Sleep(100 * time.Microsecond)
	}
	all := 0 // scopes begun
	for i := 0; t.steps.begin[0].Load() == 1; {
		var s Span
		// Fills the chunk of the scope's record, unless the goroutine is moved away from
		// it.
		begin := func() {
			for sealed := false; !sealed; all++ {
				s.End()
				fill(0)
				s = Begin("late", all, i%lateKinds)
				for n := 0; n < 3000 && !sealed; n++ {
					Counter("fill", 0)
					sealed = r.Pool().State(chunkOf(s)) == pool.Sealed
				}
			}
		}
		if i%lateKinds == 3 {
			var wg sync.WaitGroup
			wg.Go(begin)
			wg.Wait()
		} else {
			begin()
		}
		idx := chunkOf(s)
		owner := func(idx int64) uint32 { return uint32(r.Pool().Words(idx)[1] >> 32) }
		for n := 0; i%lateKinds == 1 && r.Fast() != nil && n < 30; n++ {
			here := Begin("here")
			elsewhere := owner(chunkOf(here)) != owner(idx)
			here.End()
			if elsewhere {
				break
			}
			time.Sleep(time.Microsecond)
		}
		chunk.Store(idx)
		i++
		if (i-1)%lateKinds == 2 {
			step.Mark(1)
			s.End("text")
			step.Mark(2)
		} else {
			step.Mark(1)
			s.End()
			step.Mark(2)
		}
	}
	if r.IsRing() {
		fill(3 * 4 << 20 / format.RecordSize)
	}
	if err := Stop(); err != nil {
		fmt.Println(err)
	}
	s := Stats()
	fmt.Println("all", all, "double", s.Misuse.DoubleEnds, "stale", s.Misuse.StaleEnds, "lost", s.Lost.Total(), "ends", s.Lost.Ends)
	os.Exit(0)
}
