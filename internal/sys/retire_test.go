//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRetireForgetsThreadsThatAreGone: a thread that got the structure and the id of
// a dead one is not registered with the kernel, although its cell says so.
func TestRetireForgetsThreadsThatAreGone(t *testing.T) {
	f, chunk := running(t, 2_600_000_000)
	lockedCell := func() *cell {
		got := make(chan *cell)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends
			f.Install(&[8]uint64{1}, chunk, 1<<16, 1)
			f.Anchor()
			var p place
			where(&p)
			v, _ := f.byM.Load(p.m)
			c, _ := v.(*cell)
			got <- c
		}()
		return <-got
	}
	c := lockedCell()
	if c != nil && c.os == uint64(os.Getpid()) {
		c = lockedCell() // the first thread lives as long as the process
	}
	if c == nil || c.os == 0 {
		t.Fatal("the thread has no cell")
	}
	for deadline := time.Now().Add(10 * time.Second); load(&c.os) != 0; f.Retire() {
		if time.Now().After(deadline) {
			t.Fatal("the thread is gone and its cell is not")
		}
	}
	if load(&c.rseq[1]) != 0 {
		t.Error("its witness is still armed")
	}
}

// TestRetireForgetsWhereTheirWitnessIs: the entry of the P that such a thread ran on
// also has the address of its witness: in a C library, that memory may be freed or
// reused.
func TestRetireForgetsWhereTheirWitnessIs(t *testing.T) {
	f, chunk := running(t, 2_600_000_000)
	var e *entry
	var tid uint64
	for deadline := time.Now().Add(10 * time.Second); e == nil; {
		if time.Now().After(deadline) {
			t.Fatal("no P has an anchor of a thread that has ended")
		}
		at := make(chan uint64)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends
			f.Install(&[8]uint64{1}, chunk, 1<<16, 1)
			f.Anchor()
			var p place
			where(&p)
			at <- p.tid
		}()
		if tid = <-at; tid == uint64(os.Getpid()) {
			continue // the first thread lives as long as the process
		}
		for unix.Tgkill(os.Getpid(), int(tid), 0) != unix.ESRCH {
			runtime.Gosched()
		}
		for i := range entries[:f.ps()] {
			if x := &entries[i]; x.tid == tid && x.m != 0 {
				e = x
			}
		}
	}
	f.Retire()
	if e.tid == tid && e.m != 0 {
		t.Error("the entry still has its witness")
	}
}

// TestInstallForgetsAnotherRecordingsCounts: the counts of a P that Install had not
// noted in time were not cleared when the next recording began.
func TestInstallForgetsAnotherRecordingsCounts(t *testing.T) {
	f, chunk := running(t, 2_600_000_000)
	f.Install(&[8]uint64{1}, chunk, 1<<16, 1)
	f.Run(-1)
	for i := range entries[:f.ps()] {
		entries[i].units, entries[i].extra, entries[i].clamped, entries[i].foreign = 7, 4, 2, 1
	}
	f.Run(2)
	if _, ok := f.Install(&[8]uint64{1}, chunk, 1<<16, 2); !ok {
		t.Fatal("the recording is over")
	}
	if c := f.Count(); c.Records != 0 || c.Clamped != 0 || c.Foreign != 0 {
		t.Errorf("a recording without a record has %+v", c)
	}
}
