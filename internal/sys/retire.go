//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Retire gives up the cells of threads that are gone; it is to be called once in
// a while. An M's structure is reused, and so are thread ids, in some programs
// after 32,768 threads. A thread that had both from one that is gone would pass
// for that one, which is registered with the kernel, and its witness would never
// be cleared: sleeping, it would be charged with the time.
func (f *Fast) Retire() {
	pid := os.Getpid()
	f.mu.Lock() // no cell gets another thread meanwhile
	defer f.mu.Unlock()
	for i := range f.cells[:f.used] {
		c := &f.cells[i]
		if c.os == 0 || unix.Tgkill(pid, int(c.os), 0) != unix.ESRCH {
			continue
		}
		for e := range entries[:f.ps()] {
			// The P's entry too: it has where the thread's witness was. A P that gets an
			// anchor meanwhile needs another one at most.
			if e := &entries[e]; load(&e.tid) == c.os {
				atomic.StoreUintptr(&e.m, 0)
			}
		}
		store(&c.os, 0)
		// What lies in a C library's memory may be gone with the thread.
		if own := uintptr(unsafe.Pointer(c)) + 8; c.kind == witnessRseq && c.page == own {
			store(&c.rseq[1], 0)
		}
	}
}
