//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Retire releases the cells of threads that are gone; call it once in a while. An M's
// structure is reused, and so are thread ids, in some programs after 32,768 threads. A
// thread that got both from a dead one would pass for it, which is registered with the
// kernel, and its witness would never be cleared: its sleep would count as CPU time.
func (f *Fast) Retire() {
	pid := os.Getpid()
	f.mu.Lock() // no cell is assigned meanwhile
	defer f.mu.Unlock()
	for i := range f.cells[:f.used] {
		c := &f.cells[i]
		if c.os == 0 || unix.Tgkill(pid, int(c.os), 0) != unix.ESRCH {
			continue
		}
		for e := range entries[:f.ps()] {
			// Also the P's entry: it has the address of the thread's witness. A P that
			// gets an anchor meanwhile needs at most another one.
			if e := &entries[e]; load(&e.tid) == c.os {
				atomic.StoreUintptr(&e.m, 0)
			}
		}
		store(&c.os, 0)
		// Memory of a C library may have been freed with the thread.
		if own := uintptr(unsafe.Pointer(c)) + 8; c.kind == witnessRseq && c.page == own {
			store(&c.rseq[1], 0)
		}
	}
}
