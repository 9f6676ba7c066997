//go:build linux && !scope_off && !scope_pure && !race

package record_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// A victim is this test binary, started again to record until it is killed or dies;
// it reports its progress in memory shared with its parent.

const (
	victimWorkers = 4
	victimTrace   = "SCOPE_KILL_VICTIM" // the trace's path
	victimTruth   = "SCOPE_KILL_TRUTH"  // the file of its counters
	victimWays    = "SCOPE_KILL_WAYS"   // how it records and dies, as words
)

// truth is the progress of the workers. Each word is stored before or after the call
// that it describes, so that the trace must agree with it, whenever the victim dies.
type truth struct {
	workers [victimWorkers]work
	// lostEnds is the number of ends without room when a worker last read it, which
	// it does after each end.
	lostEnds atomic.Int64
	lost     atomic.Int64  // begins that were not recorded
	running  atomic.Uint32 // Start has returned
	stopped  atomic.Uint32 // Stop has returned
	pace     int           // scopes that a worker records between pauses; 0: no pauses
	steps    steppers
}

// work is the progress of a worker. Its scopes are numbered; the number of one that
// was not kept is reused for the next.
type work struct {
	begun atomic.Uint64 // stored before a begin
	ended atomic.Uint64 // stored after its end has returned
	times [momentsKept]struct {
		n  atomic.Uint64 // a scope's number + 1, stored last
		at atomic.Int64  // ns of the monotonic clock, before it began
	}
}

const (
	momentsKept = 256
	momentEach  = 32 // the time of one in so many scopes is stored
)

func mapTruth(f *os.File) (*truth, func(), error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(truth{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return (*truth)(unsafe.Pointer(unsafe.SliceData(b))), func() { _ = unix.Munmap(b) }, nil
}

// isVictim turns the test binary into a victim if it was started as one.
func isVictim(t *testing.T) {
	if path := os.Getenv(victimTrace); path != "" {
		t.Fatal(victim(path, strings.Fields(os.Getenv(victimWays))))
	}
}

// victimOptions returns the options for the ways' words.
func victimOptions(ways []string) []Option {
	opts := []Option{WithFlushEvery(10 * time.Millisecond)}
	if stepsOf(ways) != nil { // only the writers should write
		// A stepped thread is off its CPU between any two instructions, which the
		// fast path, if it measures CPU time, would notice.
		opts = []Option{WithFlushEvery(time.Hour), WithHeartbeat(time.Hour), WithCPU(CPUOff)}
	}
	limit := WithLimit(256 << 20)
	for _, way := range ways {
		key, value, _ := strings.Cut(way, "=")
		switch key {
		case "ring":
			limit = WithRing(4 << 20)
		case "beats":
			opts = append(opts, WithHeartbeat(10*time.Millisecond))
		case "segments":
			limit = WithSegments(1<<20, 4)
		case "backing":
			n, _ := strconv.Atoi(value)
			opts = append(opts, WithBacking(BackingKind(n)))
		}
	}
	return append(opts, limit)
}

// victim records scopes with their number as argument, some nested, some ended by
// another goroutine, and dies in the given way. It does not return otherwise.
func victim(path string, ways []string) error {
	f, err := os.OpenFile(os.Getenv(victimTruth), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	t, _, err := mapTruth(f)
	if err != nil {
		return err
	}
	for _, way := range ways {
		if n, ok := strings.CutPrefix(way, "pace="); ok {
			t.pace, _ = strconv.Atoi(n)
		}
	}
	fmt.Println("started")
	if err := Start(path, victimOptions(ways)...); err != nil {
		return err
	}
	t.running.Store(1)
	if ops := stepsOf(ways); ops != nil {
		t.step(ops)
	}
	for w := range victimWorkers {
		go t.work(w)
	}
	fmt.Println("running")
	for _, way := range ways {
		key, value, _ := strings.Cut(way, "=")
		if die := deaths[key]; die != nil {
			n, _ := strconv.Atoi(value)
			until := func() bool { return t.workers[0].ended.Load() >= uint64(n) }
			for !until() {
				time.Sleep(time.Millisecond)
			}
			die(t)
		}
	}
	select {}
}

// work records as worker w.
func (t *truth) work(w int) {
	me, r := &t.workers[w], record.Current.Load()
	other, back := make(chan Span), make(chan bool)
	go func() {
		for s := range other {
			s.End()
			back <- true
		}
	}()
	for i, n := 0, uint64(0); ; i++ {
		if n%momentEach == 0 {
			m := &me.times[n/momentEach%momentsKept]
			m.n.Store(0)
			m.at.Store(monotonic())
			m.n.Store(n + 1)
		}
		me.begun.Store(n + 1)
		s := Begin("n", w, n)
		if handleOf(s).Loc == 0 {
			t.lost.Add(1)
			time.Sleep(100 * time.Microsecond)
			continue
		}
		if n%7 == 0 {
			Task("inner")()
		}
		if n%1000 == 0 {
			other <- s
			<-back
		} else {
			s.End()
		}
		if lost := r.Lost()[format.LossEnd]; lost > 0 {
			for old := t.lostEnds.Load(); old < lost && !t.lostEnds.CompareAndSwap(old, lost); old = t.lostEnds.Load() {
			}
		}
		if !Enabled() {
			select {} // it may have ended after Stop, which keeps no ends
		}
		n++
		me.ended.Store(n)
		if t.pace > 0 && i%t.pace == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
}

func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
