//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// A thread that got the structure and the id of one that is gone is not
// registered with the kernel, though its cell says so.
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
		c = lockedCell() // the first thread stays as long as the process
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
