//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// CPU selects how thread CPU time may be measured.
type CPU int

const (
	CPUAuto   CPU = iota // by rseq
	CPUOff               // not at all
	CPUAlways            // by rseq, else by the perf page
)

// chooseWitness selects the switch witness that works here. At first use it tries it: a
// sleep must clear it.
func (f *Fast) chooseWitness(want CPU) {
	f.cpu = false
	f.Witness &^= witnessSwitchBit
	if want == CPUOff {
		f.NoSwitch = "CPU time was switched off"
		return
	}
	if noWitness != "" {
		f.NoSwitch = noWitness
		return
	}
	if f.kind == witnessNone {
		f.filtered = Filtered()
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

// rseqArea is the position of the area in a C library that registers rseq for its threads
// (glibc 2.35 and newer, in cgo programs): off bytes from the thread pointer.
type rseqArea struct {
	found, sought bool
	off           int64
	size          uint64
}

// ready assigns the cell to thread tid, whose witness of that kind is the word at page.
// The next anchor arms it.
func (c *cell) ready(kind, tried uint64, tid uint64, page uintptr) {
	c.kind, c.tried, c.page, c.mask = kind, tried, page, 0
	c.witness = uintptr(unsafe.Pointer(&c.expect))
	store(&c.os, tid)
}

// cellOf returns the cell of the thread at p, and prepares it if needed; nil if the
// goroutine was moved meanwhile.
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
	kind, page, ok := f.witnessOf(c, p, want)
	if !ok {
		return nil
	}
	if g := load(&c.named); g != 0 && c.os != p.tid {
		store(&c.named, 0)
		store(&c.left, g)
		f.left.Store(true)
	}
	c.ready(kind, want, p.tid, page)
	f.byM.Store(p.m, c)
	return c
}

// Named records that the calling goroutine has named its row.
func (f *Fast) Named(goid uint64) {
	if c := f.here(); c != nil {
		store(&c.named, goid)
	}
}

// Inherited reports whether the calling goroutine named its row on a thread that is gone,
// and whose M its current thread has: once, after an anchor. Go lends a goroutine with
// its M to one thread of C code after another.
func (f *Fast) Inherited(goid uint64) bool {
	if !f.left.Load() {
		return false
	}
	c := f.here()
	if c == nil || load(&c.left) != goid {
		return false
	}
	store(&c.left, 0)
	return true
}

// here returns the cell of the thread that the caller was on a moment ago; nil if it has
// none.
func (f *Fast) here() *cell {
	var p place
	where(&p)
	if v, ok := f.byM.Load(p.m); ok {
		return v.(*cell)
	}
	return nil
}

// witnessOf makes the calls by which the thread at p gets the witness that is wanted, if
// it has none. ok is false where the goroutine was moved.
func (f *Fast) witnessOf(c *cell, p *place, want uint64) (kind uint64, page uintptr, ok bool) {
	switch {
	case want == witnessNone:
		return witnessNone, 0, true
	case want == witnessRseq && c.os == p.tid && c.kind == witnessRseq:
		return witnessRseq, c.page, true
	case f.refused != "":
		return witnessNone, 0, true
	case !f.filtered && Filtered():
		// The filter was installed after Start, and may end the process for the following
		// calls.
		f.refused = "a seccomp filter has come"
		return witnessNone, 0, true
	}
	var now place
	if where(&now); now.m != p.m {
		return witnessNone, 0, false // the check was on another thread
	}
	if want == witnessPerf {
		if page = perfPage(int(p.tid)); page == 0 {
			f.refused = "perf_event_open was refused"
			return witnessNone, 0, true
		}
		return witnessPerf, page, true
	}
	page, errno := f.rseqWord(c, p.m)
	switch errno {
	case 0:
		return witnessRseq, page, true
	case moved:
		return witnessNone, 0, false
	case -int64(unix.EINVAL): // other code has registered this thread
	default:
		f.refused = "rseq: " + unix.Errno(-errno).Error()
	}
	return witnessNone, 0, true
}

// Refused returns why new threads get no witness any more, or "" if they do. After the
// first refusal no more calls are made, because each would be made while others wait.
func (f *Fast) Refused() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

// newCell returns the cell of m: the existing one, whose thread is gone if it was
// another, or a new one. The kernel does not write to a dead thread's cell any more.
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

// freeCell releases a cell returned by newCell if it has not been assigned to a thread.
func (f *Fast) freeCell(c *cell) {
	if _, known := f.byM.Load(c.m); !known && c == &f.cells[f.used-1] {
		f.used--
	}
}

// tryPerf tries the second witness: the lock word of a perf event's page changes at every
// switch of the thread, which adds 1.1 µs to each switch.
func (f *Fast) tryPerf() (uint64, string) {
	if Filtered() {
		return witnessNone, "a seccomp filter is active, so perf_event_open was not tried"
	}
	w := perfPage(unix.Gettid())
	if w == 0 {
		return witnessNone, "rseq is not available, and perf_event_open is not allowed (perf_event_paranoid above 2?)"
	}
	return witnessPerf, ""
}

// perfPage maps the page of a dummy event of the thread and returns the address of its
// lock word, or 0 on failure. The mapping outlives the descriptor.
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
