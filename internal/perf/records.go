package perf

import "encoding/binary"

// what a record tells of a thread.
type what uint8

const (
	in        what = iota // it came onto a CPU
	out                   // it left it to wait
	preempted             // it was put off it
	born
	died
	gapFrom // of all threads: from now on records are missing
	gapTo   // all are there again
)

// record is one that the kernel wrote, or that stands for those it could not write.
type record struct {
	time int64 // ns of the monotonic clock
	tid  uint32
	what what
}

// The kernel's record types and bits: linux/perf_event.h.
const (
	typeLost   = 2
	typeExit   = 4
	typeFork   = 7
	typeSwitch = 14

	miscOut     = 1 << 13
	miscPreempt = 1 << 14
)

// Every record begins with its head (u32 type, u16 misc, u16 size) and ends with
// what sample_type asks for: u32 pid, u32 tid, u64 time, u64 id.
const (
	headSize  = 8
	idSize    = 24
	forkSize  = 24 // pid, ppid, tid, ptid, time of fork and exit
	lostSize  = 16 // id, how many
	mostBytes = headSize + idSize + forkSize
)

// stream is what one CPU's ring tells.
type stream struct {
	pid  uint32
	from map[uint32]uint64 // which event tells of a thread
	last int64             // time of the last record
	lost int64             // records, as the kernel counts them
}

// parse appends the records in b, of which the last is whole, to dst.
func (s *stream) parse(dst []record, b []byte) []record {
	le := binary.LittleEndian
	for len(b) >= headSize {
		size := int(le.Uint16(b[6:]))
		if size < headSize+idSize || size > len(b) {
			break // the kernel does not write such
		}
		typ, misc, body, id := le.Uint32(b), le.Uint16(b[4:]), b[headSize:size-idSize], b[size-idSize:size]
		b = b[size:]
		r := record{time: int64(le.Uint64(id[8:])), tid: le.Uint32(id[4:])}
		s.last = max(s.last, r.time)
		pid := le.Uint32(id)
		switch typ {
		case typeSwitch:
			event := le.Uint64(id[16:])
			if pid != s.pid || s.of(r.tid, event) != event {
				continue
			}
			switch {
			case misc&miscOut == 0:
				r.what = in
			case misc&miscPreempt != 0:
				r.what = preempted
			default:
				r.what = out
			}
		case typeFork, typeExit:
			if len(body) < forkSize || le.Uint32(body) != s.pid {
				continue
			}
			r.tid, r.what = le.Uint32(body[8:]), born
			if typ == typeExit {
				delete(s.from, r.tid)
				r.what = died
			}
		case typeLost:
			if len(body) >= lostSize {
				s.lost += int64(le.Uint64(body[8:]))
			}
			continue // that something is lost the ring's being full has told
		default:
			continue
		}
		dst = append(dst, r)
	}
	return dst
}

// of is the event whose records of the thread count: the first that told of it.
func (s *stream) of(tid uint32, event uint64) uint64 {
	first, ok := s.from[tid]
	if !ok {
		s.from[tid] = event
		return event
	}
	return first
}
