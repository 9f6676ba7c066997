//go:build (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race && !scope_off

package record_test

import (
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	. "github.com/scopeview/scopeview/scope"
)

// TestNothingIsLeftOfABegin: a begin finds, after storing its arguments, that its thread
// was off the CPU. It writes no record, and clears what it stored: another goroutine's
// record may come next, and what lay behind it would be read as records.
func TestNothingIsLeftOfABegin(t *testing.T) {
	start(t)
	if !fastNow() || record.Current.Load().Fast().Witness&format.WitnessSwitch == 0 {
		t.Skip("no begin finds that out here")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := record.Current.Load()
	const mark = 0x7878787878787878
	ext := slices.Repeat([]uint64{mark}, 4*7)
	ext[0] = format.ExtHeader(7, uint64(format.SlotString))
	left := func() (n int) {
		for _, idx := range r.Pool().Live(nil) {
			for _, w := range r.Pool().Words(idx) {
				if w == mark {
					n++
				}
			}
		}
		return n
	}
	for range 100 {
		Task("a")() // the thread has its anchor
		sleep(t)
		if _, start := sys.BeginExt(record.HeadTask|format.ExtBit, r.Gen(), &ext[0], 7, 0); start != 0 {
			t.Fatal("a begin did not find that its thread had slept")
		}
		if n := left(); n > 0 {
			t.Fatalf("%d words are left of a begin that wrote nothing", n)
		}
	}
}

// sleep makes the thread leave the CPU. If the system is late, the time may be over
// before.
func sleep(t *testing.T) {
	t.Helper()
	switches := func() int64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			t.Fatal(err)
		}
		return u.Nvcsw
	}
	for before := switches(); switches() == before; {
		if err := unix.Nanosleep(&unix.Timespec{Nsec: 10_000}, nil); err != nil {
			t.Fatal(err)
		}
	}
}
