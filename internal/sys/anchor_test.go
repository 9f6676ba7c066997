//go:build linux && amd64 && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A reading of the thread's CPU clock that took too long is not used, and
// neither is what was known before the thread left the CPU.
func TestDisturbedAnchorForgetsTheClock(t *testing.T) {
	f, err := NewFast()
	if err != nil {
		t.Skip(err)
	}
	mem, err := reserve[uint64](1 << 14)
	if err != nil {
		t.Fatal(err)
	}
	base := uintptr(unsafe.Pointer(&mem[0]))
	f.Setup(base, 1<<17, 1e9, CPUAuto)
	if f.NoSwitch != "" {
		t.Skip(f.NoSwitch)
	}
	f.Run(1)
	defer f.Run(-1)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, ok := f.Install(&[8]uint64{1}, base+1<<16, 1<<16, 1); !ok || !f.Anchor() {
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
