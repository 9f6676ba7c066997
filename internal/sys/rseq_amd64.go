//go:build linux && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"bytes"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// CPU says how thread CPU time may be measured.
type CPU int

const (
	CPUAuto   CPU = iota // by rseq
	CPUOff               // not at all
	CPUAlways            // by rseq, else by the perf page
)

// rseqSig must stand in the four bytes before the descriptor's abort address,
// or the kernel takes the descriptor for an attack (rseq(2), RSEQ_SIG on x86).
const rseqSig = 0x53053053

// descriptor makes the struct rseq_cs that armed cells point to. Its critical
// section lies in a page that is never executed, so no instruction of the
// program is ever in it: all that the kernel does with it is to forget it when
// the thread is preempted, migrated or interrupted by a signal.
func (f *Fast) descriptor() error {
	p, err := reserve[uint64](512)
	if err != nil {
		return err
	}
	base := uintptr(unsafe.Pointer(&p[0]))
	// Not at the page's begin: the assembly compares the low half of the address,
	// which must not be 0, the sign of a thread that was switched out.
	d := p[8:12]
	d[1] = uint64(base + 2048) // start_ip
	d[2] = 1                   // post_commit_offset
	d[3] = uint64(base + 1024) // abort_ip
	p[127] = rseqSig << 32     // the word before it
	f.desc = uintptr(unsafe.Pointer(&d[0]))
	return nil
}

// chooseWitness finds out which switch witness works here, at first use by
// trying it: a sleep must clear it.
func (f *Fast) chooseWitness(want CPU) {
	f.cpu = false
	f.Witness &^= witnessSwitchBit
	if want == CPUOff {
		f.NoSwitch = "CPU time was switched off"
		return
	}
	if f.kind == witnessNone {
		f.kind, f.NoSwitch = f.tryRseq(want)
	}
	if f.kind == witnessNone && want == CPUAlways {
		f.kind, f.NoSwitch = f.tryPerf()
	}
	if f.kind == witnessPerf && want != CPUAlways {
		f.NoSwitch = "rseq is not available and the perf page was not asked for"
		return
	}
	if f.kind != witnessNone {
		f.cpu, f.NoSwitch = true, ""
		f.Witness |= witnessSwitchBit
	}
}

func (f *Fast) tryRseq(want CPU) (uint64, string) {
	if failRseq {
		return witnessNone, "switched off by a build tag"
	}
	if seccomp() && want != CPUAlways {
		// A filter may kill a process for a system call it does not know.
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
			if c.os != p.tid {
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

// rseqArea is where a C library that registers rseq for its threads (glibc 2.35
// and newer, in cgo programs) has the area: off bytes from the thread pointer.
type rseqArea struct {
	found bool
	off   int64
	size  uint64
}

// rseqWord returns the rseq_cs word of the thread m: that of the cell, which it
// registers, or that of libc's area, which is free to be used by whoever runs
// on the thread. Which address libc registered the kernel tells: it answers
// EBUSY for exactly that one, and EINVAL for any other.
func (f *Fast) rseqWord(c *cell, m uintptr) (page uintptr, errno int64) {
	if !f.area.found {
		own := uintptr(unsafe.Pointer(c))
		if errno = registerRseq(m, own, rseqSig); errno == 0 {
			return own + 8, 0
		}
		if errno != -int64(unix.EINVAL) && errno != -int64(unix.EPERM) {
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

// findArea looks for libc's area around the thread pointer: in struct pthread
// above it, or in the static TLS block below it.
func (f *Fast) findArea(m uintptr) int64 {
	const far = 16 << 10
	for _, size := range []uint64{32, 28, 40, 48, 64} {
		for off := int64(-far); off < far; off += 32 {
			switch _, r := probeRseq(m, off, size, rseqSig); r {
			case -int64(unix.EBUSY):
				f.area = rseqArea{true, off, size}
				return 0
			case moved:
				return moved
			}
		}
	}
	return -int64(unix.EINVAL)
}

// clears arms the word of thread m, makes the thread leave the CPU, and looks
// whether the kernel has cleared it. It does so when the thread comes back, so
// only the thread itself can tell: unknown where the goroutine was moved.
//
// Linux 6.19 and 7.0, and newer ones for the larger area that newer C libraries
// register, clear the word of a thread that left the CPU in a system call only
// if it comes back on another CPU, which would be missed switches for us. So it
// has to be cleared each time, and three times on the same CPU.
func clears(page, desc, m uintptr) (cleared, known bool) {
	w := *(**uint64)(unsafe.Pointer(&page))
	id := page - 4 // the area's cpu_id
	cpu := *(**uint32)(unsafe.Pointer(&id))
	for stayed, tries := 0, 0; stayed < 3; tries++ {
		before := atomic.LoadUint32(cpu)
		*w = uint64(desc)
		// raw: with its P, so that the goroutine stays on this thread
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

// ready makes the cell that of thread tid, whose witness of that kind is the
// word at page. The next anchor arms it.
func (c *cell) ready(kind, tried uint64, tid uint64, page uintptr) {
	c.kind, c.tried, c.page, c.mask = kind, tried, page, 0
	c.witness = uintptr(unsafe.Pointer(&c.expect))
	store(&c.os, tid)
}

// cellOf returns the cell of the thread at p, making it ready where needed;
// nil where the goroutine was moved meanwhile.
func (f *Fast) cellOf(p *place) *cell {
	want := uint64(witnessNone)
	if f.cpu {
		want = f.kind
	}
	if v, ok := f.byM.Load(p.m); ok {
		if c := v.(*cell); load(&c.os) == p.tid && (want == witnessNone || load(&c.tried) == want) {
			return c
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.newCell(p.m)
	if c == nil {
		return nil
	}
	kind, page := uint64(witnessNone), uintptr(0)
	switch want {
	case witnessRseq:
		if c.os == p.tid && c.kind == witnessRseq {
			kind, page = witnessRseq, c.page
			break
		}
		var errno int64
		switch page, errno = f.rseqWord(c, p.m); errno {
		case 0:
			kind = witnessRseq
		case moved:
			return nil
		}
	case witnessPerf:
		if page = perfPage(int(p.tid)); page != 0 {
			kind = witnessPerf
		}
	}
	c.ready(kind, want, p.tid, page)
	f.byM.Store(p.m, c)
	return c
}

// newCell returns the cell of m: the one it had, whose thread is gone if it was
// another, or a new one. A thread that is gone is written to no more.
func (f *Fast) newCell(m uintptr) *cell {
	if v, ok := f.byM.Load(m); ok {
		return v.(*cell)
	}
	if f.used == len(f.cells) {
		return nil
	}
	c := &f.cells[f.used]
	f.used++
	c.m = m
	return c
}

func (f *Fast) freeCell(c *cell) {
	if c == &f.cells[f.used-1] {
		f.used--
	}
}

// tryPerf tries the second witness: the lock word of a perf event's page
// grows at every switch of the thread, which costs each switch 1.1 µs.
func (f *Fast) tryPerf() (uint64, string) {
	if seccomp() {
		return witnessNone, "a seccomp filter is active, so perf_event_open was not tried"
	}
	w := perfPage(unix.Gettid())
	if w == 0 {
		return witnessNone, "rseq is not available, and perf_event_open is not allowed (perf_event_paranoid above 2?)"
	}
	return witnessPerf, ""
}

// perfPage maps the page of a dummy event of the thread and returns the address
// of its lock word, 0 on failure. The mapping outlives the descriptor.
func perfPage(tid int) uintptr {
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Config: unix.PERF_COUNT_SW_DUMMY,
		Bits:   unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(os.Getpagesize()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0
	}
	return uintptr(p) + 8
}

// seccomp tells whether a filter decides about this process's system calls.
func seccomp() bool {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return true // unknown: make no exotic call
	}
	_, after, found := bytes.Cut(b, []byte("\nSeccomp:"))
	if !found {
		return false // a kernel built without it
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return string(bytes.TrimSpace(line)) != "0"
}
