package perf

import "encoding/binary"

const (
	typeSample = 9

	miscMode       = 7 // of misc: the mode that the thread was in
	miscKernel     = 1
	miscHypervisor = 3

	contextKernel = ^uint64(0) - 127 // (u64)-128: the addresses that follow are the kernel's
	contextUser   = ^uint64(0) - 511
	contextMax    = ^uint64(0) - 4094
)

// kernelPC stands for the kernel, of which nothing more is kept.
const kernelPC = ^uint64(0)

// Samples are u64 id, ip, u32 pid, tid, u64 time, u32 cpu, 0, u64 period, u64 how many
// addresses, and these. Other records end with u32 pid, tid, u64 time, u32 cpu, 0, u64 id.
const (
	sampleSize = 56
	tailSize   = 32
)

// hit is one sample.
type hit struct {
	id       uint64 // of the event
	pid, tid uint32
	time     int64 // ns of the monotonic clock
	cpu      uint32
	kernel   bool
	period   int64
	pcs      []uint64 // the leaf first; good until the next one
}

// hits reads the records that counters make.
type hits struct {
	hit  func(*hit)
	lost func(id uint64, n int64)
	died func(pid, tid uint32)
	pcs  []uint64
}

// parse reads the records in b, of which the last is whole.
func (h *hits) parse(b []byte) {
	le := binary.LittleEndian
	for len(b) >= headSize {
		size := int(le.Uint16(b[6:]))
		if size < headSize || size > len(b) {
			return // the kernel does not write such
		}
		typ, misc, body := le.Uint32(b), le.Uint16(b[4:]), b[headSize:size]
		b = b[size:]
		switch {
		case typ == typeSample:
			h.sample(misc, body)
		case typ == typeLost && len(body) >= lostSize:
			h.lost(le.Uint64(body), int64(le.Uint64(body[8:])&(1<<63-1)))
		case typ == typeExit && len(body) >= forkSize+tailSize:
			h.died(le.Uint32(body), le.Uint32(body[8:]))
		}
	}
}

func (h *hits) sample(misc uint16, p []byte) {
	le := binary.LittleEndian
	if len(p) < sampleSize || le.Uint64(p[48:]) > uint64(len(p)-sampleSize)/8 {
		return
	}
	x := hit{
		id: le.Uint64(p), pid: le.Uint32(p[16:]), tid: le.Uint32(p[20:]), time: int64(le.Uint64(p[24:])), cpu: le.Uint32(p[32:]) & (1<<31 - 1),
		kernel: misc&miscMode == miscKernel || misc&miscMode == miscHypervisor, period: int64(le.Uint64(p[40:]) & (1<<63 - 1)),
	}
	h.pcs = h.pcs[:0]
	if x.kernel {
		h.pcs = append(h.pcs, kernelPC)
	}
	inKernel, leaf := x.kernel, !x.kernel
	for i := range le.Uint64(p[48:]) {
		switch pc := le.Uint64(p[sampleSize+8*i:]); {
		case pc == contextKernel:
			inKernel = true
		case pc == contextUser: // what the kernel was called by is an instruction, not a call
			inKernel, leaf = false, true
		case pc >= contextMax || inKernel || pc == 0:
		case leaf:
			h.pcs, leaf = append(h.pcs, pc), false
		default:
			h.pcs = append(h.pcs, pc-1)
		}
	}
	if len(h.pcs) == 0 {
		h.pcs = append(h.pcs, le.Uint64(p[8:]))
	}
	x.pcs = h.pcs
	h.hit(&x)
}
