//go:build linux && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// noWitness is the reason for not trying a switch witness on this processor; "" if one is tried.
const noWitness = ""

// rseqSig must be in the four bytes before the descriptor's abort address, or the
// kernel treats the descriptor as an attack (rseq(2), RSEQ_SIG on x86).
const rseqSig = 0x53053053

// descriptor creates the struct rseq_cs that armed cells point to. Its critical
// section lies in a page that is never executed, so no instruction of the program
// is ever in it: the kernel only clears the pointer when the thread is preempted,
// migrated or interrupted by a signal.
func (f *Fast) descriptor() error {
	p, err := reserve[uint64](512)
	if err != nil {
		return err
	}
	base := uintptr(unsafe.Pointer(&p[0]))
	// Not at the page's beginning: the assembly compares the low half of the
	// address, which must not be 0, because 0 means that the thread was switched
	// out.
	d := p[8:12]
	d[1] = uint64(base + 2048) // start_ip
	d[2] = 1                   // post_commit_offset
	d[3] = uint64(base + 1024) // abort_ip
	p[127] = rseqSig << 32     // the word before it
	f.desc = uintptr(unsafe.Pointer(&d[0]))
	return nil
}

func (f *Fast) tryRseq(want CPU) (uint64, string) {
	if failRseq {
		return witnessNone, "switched off by a build tag"
	}
	if f.filtered && want != CPUAlways {
		// A filter may kill a process for an unknown system call.
		return witnessNone, "a seccomp filter is active, so rseq was not tried (WithCPU(Always) tries it)"
	}
	type result struct {
		kind uint64
		why  string
	}
	done := make(chan result)
	go func() {
		for range 100 {
			var p place
			where(&p)
			c := f.newCell(p.m)
			if c == nil {
				done <- result{witnessNone, "no cell"}
				return
			}
			page, e := c.page, int64(0)
			if c.os != p.tid || c.kind != witnessRseq { // a recording without CPU times leaves cells without a word
				page, e = f.rseqWord(c, p.m)
			}
			switch e {
			case 0:
				c.ready(witnessRseq, witnessRseq, p.tid, page)
				f.byM.Store(p.m, c)
				switch cleared, known := clears(page, f.desc, p.m); {
				case !known:
					continue
				case cleared:
					done <- result{witnessRseq, ""}
				default:
					done <- result{witnessNone, "rseq did not notice a sleep"}
				}
				return
			case moved:
				f.freeCell(c)
			default:
				f.freeCell(c)
				done <- result{witnessNone, fmt.Sprintf("rseq: %v", unix.Errno(-e))}
				return
			}
		}
		done <- result{witnessNone, "rseq: the thread kept changing"}
	}()
	r := <-done
	return r.kind, r.why
}

// rseqWord returns the address of the rseq_cs word of the thread m: that of the
// cell, which it registers, or that of libc's area, which any code on the thread
// may use. The kernel reveals the address that libc registered: it returns EBUSY
// for exactly that one, and EINVAL for any other.
func (f *Fast) rseqWord(c *cell, m uintptr) (page uintptr, errno int64) {
	if !f.area.found {
		own := uintptr(unsafe.Pointer(c))
		if errno = registerRseq(m, own, rseqSig); errno == 0 {
			return own + 8, 0
		}
		if errno != -int64(unix.EINVAL) || f.area.sought {
			return 0, errno
		}
		if e := f.findArea(m); e != 0 {
			return 0, e
		}
	}
	area, r := probeRseq(m, f.area.off, f.area.size, rseqSig)
	if r == -int64(unix.EBUSY) {
		return area + 8, 0
	}
	return 0, r
}

// findArea searches for libc's area around the thread pointer: in struct pthread
// above it, or in the static TLS block below it. It does so once, with thousands of
// calls. Any error other than the kernel's own ends it.
func (f *Fast) findArea(m uintptr) int64 {
	const far = 16 << 10
	for _, size := range []uint64{32, 28, 40, 48, 64} {
		for off := int64(-far); off < far; off += 32 {
			switch _, r := probeRseq(m, off, size, rseqSig); r {
			case -int64(unix.EBUSY):
				f.area = rseqArea{found: true, off: off, size: size}
				return 0
			case -int64(unix.EINVAL):
			default:
				return r
			}
		}
	}
	f.area.sought = true
	return -int64(unix.EINVAL)
}

// clears arms the word of thread m, makes the thread leave the CPU, and checks that
// the kernel has cleared it. The kernel does so when the thread comes back, so only
// the thread itself can check: the result is unknown if the goroutine was moved.
//
// Linux 6.19 and 7.0, and newer ones for the larger area that newer C libraries
// register, clear the word of a thread that left the CPU in a system call only if
// it comes back on another CPU, so we would miss switches. So the word must be
// cleared each time, and three times on the same CPU.
func clears(page, desc, m uintptr) (cleared, known bool) {
	w := *(**uint64)(unsafe.Pointer(&page))
	id := page - 4 // the area's cpu_id
	cpu := *(**uint32)(unsafe.Pointer(&id))
	for stayed, tries := 0, 0; stayed < 3; tries++ {
		before := atomic.LoadUint32(cpu)
		*w = uint64(desc)
		// A raw call: it keeps its P, so that the goroutine stays on this thread.
		ts := unix.Timespec{Nsec: 20_000}
		_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
		cleared = load(w) == 0
		var p place
		where(&p)
		switch {
		case p.m != m:
			return false, false
		case !cleared || tries == 100:
			return false, true
		case atomic.LoadUint32(cpu) == before:
			stayed++
		}
	}
	return true, true
}

//go:noescape
func registerRseq(m uintptr, area uintptr, sig uint64) int64

//go:noescape
func probeRseq(m uintptr, off int64, size, sig uint64) (area uintptr, r int64)
