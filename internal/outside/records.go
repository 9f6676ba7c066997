package outside

import "encoding/binary"

// The kernel's record types and bits: linux/perf_event.h.
const (
	typeLost   = 2
	typeComm   = 3
	typeExit   = 4
	typeFork   = 7
	typeSample = 9
	typeMmap2  = 10
	typeSwitch = 14

	miscModeMask = 7
	miscKernel   = 1
	miscUser     = 2
	miscOut      = 1 << 13 // of a switch
	miscPreempt  = 1 << 14
	miscExec     = 1 << 13 // of a name

	contextKernel = ^uint64(0) - 127 // (u64)-128: what follows in a chain is the kernel's
	contextUser   = ^uint64(0) - 511 // (u64)-512
	contextMax    = ^uint64(0) - 4094
)

// event is one record of the kernel's.
type event struct {
	kind     uint32
	misc     uint16
	pid, tid uint32
	time     int64 // ns of the monotonic clock
	id       uint64
	cpu      uint32

	// Of a sample:
	period int64
	kernel bool
	ip     uint64
	chain  []uint64 // good until the next record
	caller uint64   // what lies where the stack pointer points to, or in the link register; 0: not known

	// Of a mapping, a name, or what was lost:
	addr, size, offset uint64
	text               string
	lost               int64
	parent             uint32 // of a fork: the process that made this one
}

// Each record ends with what sample_type asks for, but for samples, which are made of it:
// u32 pid, u32 tid, u64 time, u32 cpu, u32 0, u64 identifier.
const (
	headSize = 8
	idSize   = 32
)

// parse calls f with the records in b; the last may be cut off, and what the kernel does not
// write ends it.
func parse(b []byte, f func(*event)) {
	le := binary.LittleEndian
	var e event
	for len(b) >= headSize {
		size := int(le.Uint16(b[6:]))
		if size < headSize || size > len(b) {
			return
		}
		body := b[headSize:size]
		e = event{kind: le.Uint32(b), misc: le.Uint16(b[4:]), chain: e.chain[:0]}
		b = b[size:]
		ok := false
		if e.kind == typeSample {
			ok = e.sample(body)
		} else if len(body) >= idSize {
			id := body[len(body)-idSize:]
			e.pid, e.tid, e.time = le.Uint32(id), le.Uint32(id[4:]), int64(le.Uint64(id[8:]))
			e.cpu, e.id = le.Uint32(id[16:]), le.Uint64(id[24:])
			ok = e.other(body[:len(body)-idSize])
		}
		if ok {
			f(&e)
		}
	}
}

// sample reads u64 identifier, ip, u32 pid, tid, u64 time, u32 cpu, 0, u64 period, u64 how
// many addresses, and these.
func (e *event) sample(p []byte) bool {
	le := binary.LittleEndian
	const fixed = 56
	if len(p) < fixed {
		return false
	}
	e.id, e.ip = le.Uint64(p), le.Uint64(p[8:])
	e.pid, e.tid, e.time = le.Uint32(p[16:]), le.Uint32(p[20:]), int64(le.Uint64(p[24:]))
	e.cpu, e.period = le.Uint32(p[32:]), int64(le.Uint64(p[40:]))
	n := le.Uint64(p[48:])
	if n > uint64(len(p)-fixed)/8 {
		return false
	}
	for i := range n {
		e.chain = append(e.chain, le.Uint64(p[fixed+8*i:]))
	}
	e.kernel = e.misc&miscModeMask == miscKernel
	e.caller = callerOf(p[fixed+8*n:])
	return true
}

// callerOf reads what follows the addresses: u64 whether there are registers, and if so u64
// the one that was asked for; u64 how many bytes of the stack, these, and u64 how many of them
// were there. It returns the stack's first word, or the register where none of it was asked
// for.
func callerOf(p []byte) uint64 {
	le := binary.LittleEndian
	if len(p) < 24 || le.Uint64(p) == 0 {
		return 0
	}
	register, size := le.Uint64(p[8:]), le.Uint64(p[16:])
	if size == 0 {
		return register
	}
	if size > uint64(len(p)-24) || size+32 > uint64(len(p)) || le.Uint64(p[24+size:]) < 8 {
		return 0
	}
	return le.Uint64(p[24:])
}

// other reads what is no sample.
func (e *event) other(p []byte) bool {
	le := binary.LittleEndian
	switch e.kind {
	case typeMmap2:
		const fixed = 64 // pid, tid, addr, len, pgoff, what identifies the file, prot, flags
		if len(p) < fixed {
			return false
		}
		e.pid, e.addr, e.size, e.offset = le.Uint32(p), le.Uint64(p[8:]), le.Uint64(p[16:]), le.Uint64(p[24:])
		e.text = cstring(p[fixed:])
	case typeComm:
		if len(p) < 8 {
			return false
		}
		e.pid, e.tid, e.text = le.Uint32(p), le.Uint32(p[4:]), cstring(p[8:])
	case typeFork, typeExit:
		if len(p) < 16 {
			return false
		}
		e.pid, e.parent, e.tid = le.Uint32(p), le.Uint32(p[4:]), le.Uint32(p[8:])
	case typeLost:
		if len(p) < 16 {
			return false
		}
		e.id, e.lost = le.Uint64(p), int64(le.Uint64(p[8:]))
	case typeSwitch:
	default:
		return false
	}
	return true
}

func cstring(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// pcs returns the addresses of a sample's stack, the leaf first: first those of the kernel, of
// which only one is kept, as a function of its own. Of callers they lie in the call. Where
// frameless says so of the innermost one of the program, its caller is missing in the chain.
func (e *event) pcs(frameless func(pc uint64) bool) (dst []uint64) {
	kernel, leaf, first := e.kernel, true, true
	if kernel {
		dst = append(dst, kernelPC)
	}
	for _, pc := range e.chain {
		switch {
		case pc == contextKernel:
			kernel = true
		case pc == contextUser:
			kernel, leaf = false, !e.kernel
		case pc >= contextMax || kernel || pc == 0:
		default:
			if !leaf {
				pc-- // it is where the call returns to
			}
			dst, leaf = append(dst, pc), false
			if first && e.caller > 1 && frameless(pc) {
				dst = append(dst, e.caller-1)
			}
			first = false
		}
	}
	if len(dst) == 0 && e.ip != 0 {
		dst = append(dst, e.ip)
	}
	return dst
}

// kernelPC stands for the kernel, whose addresses are not for everybody to see.
const kernelPC = ^uint64(0)
