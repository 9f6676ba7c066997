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

// Kind is what a record of the kernel's tells: linux/perf_event.h.
type Kind uint32

// The kinds that are read.
const (
	KindLost     Kind = 2 // records had no room before this one
	KindName     Kind = 3 // a thread has a name, or its process runs a program
	kindExit     Kind = 4
	KindThrottle Kind = 5 // samples came too fast: there are none for a while
	KindFork     Kind = 7
	KindSample   Kind = 9
	KindMap      Kind = 10
	KindSwitch   Kind = 14
)

const (
	miscMode       = 7 // of misc: the mode that the thread was in
	miscKernel     = 1
	miscHypervisor = 3
	miscOut        = 1 << 13 // of a switch
	miscPreempt    = 1 << 14
	miscExec       = 1 << 13 // of a name

	contextKernel = ^uint64(0) - 127 // (u64)-128: the addresses that follow are the kernel's
	contextUser   = ^uint64(0) - 511
	contextMax    = ^uint64(0) - 4094
)

// KernelPC stands for the kernel in a stack, of which nothing more is kept.
const KernelPC = ^uint64(0)

// Event is one record of the kernel's.
type Event struct {
	Kind     Kind
	PID, TID uint32
	Time     int64  // ns of the monotonic clock
	ID       uint64 // of what sys.Watch opened
	misc     uint16

	// Of a sample:
	CPU    uint32
	Period int64
	ip     uint64
	addr   uint64   // which it is about, if that was asked for; it has no callers then
	Chain  []uint64 // the addresses, the leaf first; good until the next record
	words  []byte   // of the stack, from the stack pointer on; good until the next record
	link   uint64   // the link register, of arm64; 0: not known

	// Of a mapping, a fork, or what was lost:
	Addr, Size, Offset uint64
	File               string
	Inode              uint64 // of the file; 0: none
	Parent             uint32 // the process that made this one
	Lost               int64  // at most 1<<63-1
}

// The head is u32 kind, u16 misc, u16 size. How a record ends see sys.Watching.
const (
	headSize  = 8
	tailSize  = 32
	taskSize  = 24                             // of a fork and an exit: u32 pid, parent, tid, parent's, u64 time
	mostBytes = headSize + tailSize + taskSize // of a record that tells of switches
)

// Parse calls f with the records in b, of which the last is whole. What the kernel does not
// write is left out.
func Parse(b []byte, f func(*Event)) { parse(b, (*Event).sample, f) }

// parse is Parse of a ring whose samples are read by sample.
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

// sample reads u64 id, ip, u32 pid, tid, u64 time, u32 cpu, 0, u64 period, u64 how many
// addresses, and these.
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

// fault reads a sample with an address: u64 id, ip, u32 pid, tid, u64 time, address, u32 cpu, 0. Where
// another event of its kind has sampled too, as somebody's counter of major page faults, Linux
// gives both the id of the first (perf_prepare_sample keeps what it has), and room for its callers.
func (e *Event) fault(p []byte) bool {
	le := binary.LittleEndian
	if len(p) < 48 {
		return false
	}
	e.ID, e.ip, e.addr = le.Uint64(p), le.Uint64(p[8:]), le.Uint64(p[32:])
	e.PID, e.TID, e.Time = le.Uint32(p[16:]), le.Uint32(p[20:]), int64(le.Uint64(p[24:]))
	return true
}

// stack reads what follows the addresses: u64 whether there are registers, and if so u64 the
// one that was asked for; u64 how many bytes of the stack, these, and u64 how many of them
// were there.
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

// leastBody is how long what is read is at least, between head and tail.
var leastBody = map[Kind]int{KindLost: 16, KindName: 8, kindExit: taskSize, KindThrottle: 16, KindFork: taskSize, KindMap: 64, KindSwitch: 0}

// other reads what is no sample.
func (e *Event) other(p []byte) bool {
	le := binary.LittleEndian
	if n, ok := leastBody[e.Kind]; !ok || len(p) < n {
		return false
	}
	switch e.Kind {
	case KindMap: // pid, tid, addr, len, pgoff, what identifies the file, prot, flags
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

// Exec reports whether a name is that of another program that the process runs.
func (e *Event) Exec() bool { return e.misc&miscExec != 0 }

// How is what a switch was.
func (e *Event) How() format.SwitchKind {
	switch {
	case e.misc&miscOut == 0:
		return format.SwitchIn
	case e.misc&miscPreempt != 0:
		return format.SwitchPreempt
	}
	return format.SwitchOut
}

// text reports whether a sample with an address is of reading an instruction: that lies where
// the thread was, or begins there on the page before.
func (e *Event) text() bool { return e.addr-e.ip < longestInstruction }

// longestInstruction is of amd64, in bytes; arm64's have four.
const longestInstruction = 15

// Kernel reports whether a sample is of a thread in the kernel.
func (e *Event) Kernel() bool {
	return e.misc&miscMode == miscKernel || e.misc&miscMode == miscHypervisor
}

// PCs appends the addresses of a sample's stack, the leaf first, as unwind.Walk does; KernelPC
// stands for those of the kernel. What the kernel was called by is an instruction; of callers the
// address lies in the call.
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

// Keep makes e independent of the records that it was read from.
func (e *Event) Keep() {
	e.Chain, e.words = slices.Clone(e.Chain), slices.Clone(e.words)
}

// longestChain is how many addresses of a stack the kernel keeps at most.
var longestChain = sync.OnceValue(func() int {
	const usual = 127
	b, _ := os.ReadFile("/proc/sys/kernel/perf_event_max_stack")
	if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && n > 0 {
		return n
	}
	return usual
})
