//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestCPUTimeByAnyWitness checks the assembly's use of the thread's CPU clock,
// also on a processor or emulator without a switch witness: the test acts as the
// witness, and reports when the thread was off the CPU.
func TestCPUTimeByAnyWitness(t *testing.T) {
	f, err := NewFast()
	if err != nil {
		t.Skip(err)
	}
	clock := NewClock()
	rate := clock.Rate(3 * time.Millisecond)
	if !clock.Counter() || rate <= 0 {
		t.Skip("the processor's counter is not used here")
	}
	mem, err := reserve[uint64](1 << 14)
	if err != nil {
		t.Fatal(err)
	}
	base := uintptr(unsafe.Pointer(&mem[0]))
	f.Setup(base, 1<<17, rate, CPUOff)
	f.Run(1)
	kind := f.kind
	f.kind, f.cpu, f.bracket = witnessPerf, true, rate // however slow the emulator is
	defer func() {
		f.Run(0)
		f.kind, f.cpu = kind, false
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	word := new(uint32)
	var p place
	where(&p)
	f.mu.Lock()
	c := f.newCell(p.m)
	was := *c
	c.ready(witnessPerf, witnessPerf, p.tid, uintptr(unsafe.Pointer(word)))
	f.byM.Store(p.m, c)
	f.mu.Unlock()
	defer func() {
		c.kind, c.tried, c.page, c.mask = was.kind, was.tried, was.page, 0
		c.witness = uintptr(unsafe.Pointer(&c.expect))
		c.os = was.os
		runtime.KeepAlive(word)
	}()
	// On its thread, but on any P: scope repeats this if the P has changed.
	f.Install(&[8]uint64{1}, base+1<<16, 1<<16, 1)
	f.Anchor()

	// scope records work, and returns the record's values and the thread
	// clock's, in ticks; ok is false if the goroutine was moved meanwhile.
	scope := func(work func()) (wall, cpu, truth int64, quality uint64, ok bool) {
		loc, start := BeginFast(0, 1)
		if start == 0 {
			f.Install(&[8]uint64{1}, base+1<<16, 1<<16, 1)
			f.Anchor()
			return
		}
		before, _, _ := ThreadCPU()
		work()
		after, _, _ := ThreadCPU()
		var words [2]uint64
		for range 10 {
			switch EndFast(loc, start, 0, &words) {
			case 0:
				return int64(words[0]) - start, int64(words[1] >> 2), int64(float64(after-before) / 1e9 * float64(rate)), words[1] & 3, true
			case needAnchor:
				f.Anchor()
			default:
				return
			}
		}
		return
	}
	spin := func() {
		for t0 := clock.Now(); clock.Now()-t0 < rate/500; { // 2 ms
		}
	}
	sleep := func() {
		spin()
		// A raw call: it keeps its P, so that the goroutine stays on this
		// thread.
		ts := unix.Timespec{Nsec: 5e6}
		_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
		atomic.AddUint32(word, 2)
	}
	try := func(name string, work func(), right func(wall, cpu, truth int64) bool) {
		var wall, cpu, truth int64
		for range 100 {
			w, c, tr, quality, ok := scope(work)
			if !ok || quality != 2 {
				continue
			}
			wall, cpu, truth = w, c, tr
			if right(wall, cpu, truth) {
				return
			}
		}
		t.Errorf("%s: never right in 100 tries, at last %d ticks of CPU time in %d, the clock says %d", name, cpu, wall, truth)
	}
	ms := rate / 1000
	near := func(a, b int64) bool { return max(a-b, b-a) < ms/5 }
	try("computing", spin, func(wall, cpu, _ int64) bool { return cpu == wall })
	try("sleeping, seen by the witness", sleep, func(wall, cpu, truth int64) bool { return wall > 6*ms && near(cpu, truth) })
	f.cpu = false
	c.ready(witnessNone, witnessPerf, p.tid, 0)
	f.Install(&[8]uint64{1}, base+1<<16, 1<<16, 1)
	f.Anchor()
	if _, cpu, _, quality, ok := scope(spin); ok && (cpu != 0 || quality != 0) {
		t.Errorf("%d ticks of CPU time, quality %d, by no witness", cpu, quality)
	}
}
