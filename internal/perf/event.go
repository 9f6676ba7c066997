package perf

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/unwind"
)

// Kind is the type of a record of the kernel: see linux/perf_event.h.
type Kind uint32

// The kinds of records that are parsed.
const (
	KindLost     Kind = 2 // earlier records had no room
	KindName     Kind = 3 // a thread was renamed, or its process executes a program
	kindExit     Kind = 4
	KindThrottle Kind = 5 // samples came too fast: there are none for a while
	KindFork     Kind = 7
	KindSample   Kind = 9
	KindMap      Kind = 10
	KindSwitch   Kind = 14
)

const (
	miscMode       = 7 // mask of misc: the mode that the thread was in
	miscKernel     = 1
	miscHypervisor = 3
	miscOut        = 1 << 13 // for a switch
	miscPreempt    = 1 << 14
	miscExec       = 1 << 13 // for a name

	contextKernel = ^uint64(0) - 127 // (u64)-128: the following addresses are the kernel's
	contextUser   = ^uint64(0) - 511
	contextMax    = ^uint64(0) - 4094
)

// KernelPC is the address that replaces those of the kernel in a stack.
const KernelPC = ^uint64(0)

// Event is one record of the kernel.
type Event struct {
	Kind     Kind
	PID, TID uint32
	Time     int64  // ns of the monotonic clock
	ID       uint64 // of an event opened by sys.Watch
	misc     uint16

	// For a sample:
	CPU    uint32
	Period int64
	ip     uint64
	addr   uint64   // the address accessed, if configured; the sample then has no callers
	Chain  []uint64 // the addresses, the leaf first; valid until the next record
	words  []byte   // the stack's contents, from the stack pointer on; valid until the next record
	link   uint64   // the link register, on arm64; 0: unknown

	// For a mapping, a fork, or lost records:
	Addr, Size, Offset uint64
	File               string
	Inode              uint64 // of the file; 0: none
	Parent             uint32 // the process that created this one
	Lost               int64  // at most 1<<63-1
}

// The head is u32 kind, u16 misc, u16 size. sys.Watching describes the tail.
const (
	headSize  = 8
	tailSize  = 32
	taskSize  = 24                             // of a fork and an exit: u32 pid, parent, tid, parent's, u64 time
	mostBytes = headSize + tailSize + taskSize // maximum size of a record about switches
)

// Parse calls f with the records in b, the last of which is complete. It skips records that the
// kernel does not write.
func Parse(b []byte, f func(*Event)) { parse(b, (*Event).sample, f) }

// parse is Parse for a ring whose samples are parsed by sample.
func parse(b []byte, sample func(e *Event, body []byte) bool, f func(*Event)) {
	le := binary.LittleEndian
	var e Event
	for len(b) >= headSize {
		size := int(le.Uint16(b[6:]))
		if size < headSize || size > len(b) {
			return
		}
		e = Event{Kind: Kind(le.Uint32(b)), misc: le.Uint16(b[4:]), Chain: e.Chain[:0]}
		body := b[headSize:size]
		b = b[size:]
		ok := false
		if e.Kind == KindSample {
			ok = sample(&e, body)
		} else if n := len(body) - tailSize; n >= 0 {
			tail := body[n:]
			e.PID, e.TID, e.Time, e.ID = le.Uint32(tail), le.Uint32(tail[4:]), int64(le.Uint64(tail[8:])), le.Uint64(tail[24:])
			ok = e.other(body[:n])
		}
		if ok {
			f(&e)
		}
	}
}

// sample parses u64 id, ip, u32 pid, tid, u64 time, u32 cpu, 0, u64 period, u64 number of
// addresses, the addresses, and the stack.
func (e *Event) sample(p []byte) bool {
	le := binary.LittleEndian
	const fixed = 56
	if len(p) < fixed {
		return false
	}
	n := le.Uint64(p[48:])
	if n > uint64(len(p)-fixed)/8 {
		return false
	}
	e.ID, e.ip = le.Uint64(p), le.Uint64(p[8:])
	e.PID, e.TID, e.Time = le.Uint32(p[16:]), le.Uint32(p[20:]), int64(le.Uint64(p[24:]))
	e.CPU, e.Period = le.Uint32(p[32:])&(1<<31-1), int64(le.Uint64(p[40:])&(1<<63-1))
	for i := range n {
		e.Chain = append(e.Chain, le.Uint64(p[fixed+8*i:]))
	}
	e.stack(p[fixed+8*n:])
	return true
}

// fault parses a sample with an address: u64 id, ip, u32 pid, tid, u64 time, address, u32 cpu, 0.
// If another event of the same kind has sampled too, such as another program's counter of major
// page faults, Linux gives both the id of the first (perf_prepare_sample keeps what it has), and
// room for its callers.
func (e *Event) fault(p []byte) bool {
	le := binary.LittleEndian
	if len(p) < 48 {
		return false
	}
	e.ID, e.ip, e.addr = le.Uint64(p), le.Uint64(p[8:]), le.Uint64(p[32:])
	e.PID, e.TID, e.Time = le.Uint32(p[16:]), le.Uint32(p[20:]), int64(le.Uint64(p[24:]))
	return true
}

// stack parses the data after the addresses: u64 whether there are registers, and if so the
// configured register as u64; u64 the number of bytes of the stack, the bytes, and u64 how many of
// them are valid.
func (e *Event) stack(p []byte) {
	le := binary.LittleEndian
	if len(p) < 24 || le.Uint64(p) == 0 {
		return
	}
	if runtime.GOARCH == "arm64" {
		e.link = le.Uint64(p[8:])
	}
	if size := le.Uint64(p[16:]); size > 0 && size <= uint64(len(p)-24) && size+32 <= uint64(len(p)) {
		e.words = p[24:][:min(size, le.Uint64(p[24+size:]))]
	}
}

// leastBody is the minimum length of the body of each kind, between head and tail.
var leastBody = map[Kind]int{KindLost: 16, KindName: 8, kindExit: taskSize, KindThrottle: 16, KindFork: taskSize, KindMap: 64, KindSwitch: 0}

// other parses a record that is not a sample.
func (e *Event) other(p []byte) bool {
	le := binary.LittleEndian
	if n, ok := leastBody[e.Kind]; !ok || len(p) < n {
		return false
	}
	switch e.Kind {
	case KindMap: // pid, tid, addr, len, pgoff, file id, prot, flags
		e.PID, e.Addr, e.Size, e.Offset = le.Uint32(p), le.Uint64(p[8:]), le.Uint64(p[16:]), le.Uint64(p[24:])
		e.Inode = le.Uint64(p[40:])
		name, _, _ := bytes.Cut(p[64:], []byte{0})
		e.File = string(name)
	case KindName:
		e.PID, e.TID = le.Uint32(p), le.Uint32(p[4:])
	case KindFork, kindExit:
		e.PID, e.Parent, e.TID = le.Uint32(p), le.Uint32(p[4:]), le.Uint32(p[8:])
	case KindLost:
		e.ID, e.Lost = le.Uint64(p), int64(le.Uint64(p[8:])&(1<<63-1))
	case KindThrottle:
		e.ID = le.Uint64(p[8:])
	}
	return true
}

// Exec reports whether a name is that of another program that the process executes.
func (e *Event) Exec() bool { return e.misc&miscExec != 0 }

// How returns the kind of a switch.
func (e *Event) How() format.SwitchKind {
	switch {
	case e.misc&miscOut == 0:
		return format.SwitchIn
	case e.misc&miscPreempt != 0:
		return format.SwitchPreempt
	}
	return format.SwitchOut
}

// text reports whether a sample with an address is of an instruction fetch: the address is that of
// the instruction, or of the page into which the instruction extends.
func (e *Event) text() bool { return e.addr-e.ip < longestInstruction }

// longestInstruction is the maximum on amd64, in bytes; on arm64 instructions have four.
const longestInstruction = 15

// Kernel reports whether a sample is of a thread in the kernel.
func (e *Event) Kernel() bool {
	return e.misc&miscMode == miscKernel || e.misc&miscMode == miscHypervisor
}

// PCs appends the addresses of a sample's stack, the leaf first, as unwind.Walk does; KernelPC
// stands for those of the kernel. The address from which the kernel was entered is that of an
// instruction; the addresses of callers are within their calls.
func (e *Event) PCs(dst []uint64, text unwind.Text, c *unwind.Cache) []uint64 {
	begin, kernel := len(dst), e.Kernel()
	if kernel {
		dst = append(dst, KernelPC)
	}
	s := unwind.Stack{PCs: make([]uint64, 0, len(e.Chain)), Words: e.words, Link: e.link}
	for _, pc := range e.Chain {
		switch {
		case pc == contextKernel:
			kernel = true
		case pc == contextUser:
			kernel = false
		case pc < contextMax && !kernel && pc != 0:
			s.PCs = append(s.PCs, pc)
		}
	}
	s.Cut = len(s.PCs) >= longestChain()
	dst = unwind.Walk(dst, &s, text, c)
	if len(dst) == begin && e.ip != 0 {
		dst = append(dst, e.ip)
	}
	return dst
}

// Keep makes e independent of the buffer that it was parsed from.
func (e *Event) Keep() {
	e.Chain, e.words = slices.Clone(e.Chain), slices.Clone(e.words)
}

// longestChain returns the maximum number of addresses of a stack that the kernel keeps.
var longestChain = sync.OnceValue(func() int {
	const usual = 127
	b, _ := os.ReadFile("/proc/sys/kernel/perf_event_max_stack")
	if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && n > 0 {
		return n
	}
	return usual
})
