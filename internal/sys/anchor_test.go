//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// running prepares the fast path for a test that writes records itself.
func running(t *testing.T, rate int64) (f *Fast, base uintptr) {
	t.Helper()
	f, err := NewFast()
	if err != nil {
		t.Skip(err)
	}
	mem, err := reserve[uint64](1 << 14)
	if err != nil {
		t.Fatal(err)
	}
	base = uintptr(unsafe.Pointer(&mem[0]))
	f.Setup(base, 1<<17, rate, CPUAuto)
	if f.NoSwitch != "" {
		t.Skip(f.NoSwitch)
	}
	f.Run(1)
	t.Cleanup(func() { f.Run(0) })
	return f, base + 1<<16
}

// slept records a scope during which the thread sleeps for a millisecond. ok is
// false if the goroutine was moved meanwhile.
func slept(f *Fast) (wall, cpu int64, quality uint64, ok bool) {
	loc, start := BeginFast(0, 1)
	if start == 0 {
		f.Anchor()
		return
	}
	if unix.Nanosleep(&unix.Timespec{Nsec: int64(time.Millisecond)}, nil) != nil {
		return
	}
	var words [2]uint64
	for range 10 {
		switch EndFast(loc, start, 0, &words) {
		case 0:
			return int64(words[0]) - start, int64(words[1] >> 2), words[1] & 3, true
		case needAnchor:
			f.Anchor()
		default:
			return
		}
	}
	return
}

// TestDisturbedAnchorForgetsTheClock: a reading of the thread's CPU clock that
// took too long is not used, and neither is the clock from before the thread
// left the CPU.
func TestDisturbedAnchorForgetsTheClock(t *testing.T) {
	f, chunk := running(t, 1e9)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, ok := f.Install(&[8]uint64{1}, chunk, 1<<16, 1); !ok || !f.Anchor() {
		t.Fatal("no chunk, or no anchor")
	}
	for range 100 {
		loc, start := BeginFast(0, 1)
		if start == 0 {
			f.Anchor()
			continue
		}
		if err := unix.Nanosleep(&unix.Timespec{Nsec: int64(time.Millisecond)}, nil); err != nil {
			continue
		}
		f.bracket = -1 // no reading is short enough
		f.Anchor()
		f.bracket = 1 << 40
		var words [2]uint64
		if EndFast(loc, start, 0, &words) != 0 {
			continue // on another P now
		}
		if words[1] != 0 {
			t.Errorf("%d ticks of CPU time, quality %d, of a thread whose clock could not be read; the scope was %d ticks", words[1]>>2, words[1]&3, int64(words[0])-start)
		}
		return
	}
	t.Skip("the goroutine was disturbed all the time")
}

// TestSetupForgetsTheLastRecording: K counts ticks of the recording's rate, so
// a thread's K from the last recording is invalid in the next.
func TestSetupForgetsTheLastRecording(t *testing.T) {
	f, chunk := running(t, 1_000_000_000)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for t0 := time.Now(); time.Since(t0) < 20*time.Millisecond; {
		// CPU time, which would count double at the other rate.
	}
	for range 100 {
		f.Run(0)
		f.Setup(chunk-1<<16, 1<<17, 1_000_000_000, CPUAuto)
		f.Run(1)
		f.Install(&[8]uint64{1}, chunk, 1<<16, 1)
		f.Anchor()
		f.Run(0)
		f.Setup(chunk-1<<16, 1<<17, 2_600_000_000, CPUAuto)
		f.Run(1)
		f.Install(&[8]uint64{1}, chunk, 1<<16, 1)
		f.Anchor()
		wall, cpu, quality, ok := slept(f)
		if !ok || quality == 0 {
			continue
		}
		if cpu > wall/2 {
			t.Errorf("%d ticks of CPU time in %d, of a thread that slept", cpu, wall)
		}
		return
	}
	t.Skip("the goroutine was disturbed all the time")
}
