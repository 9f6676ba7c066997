package perf

// what a record tells of a thread.
type what uint8

const (
	in        what = iota // it came onto a CPU: the first three are format.SwitchKind's
	out                   // it left it to wait
	preempted             // it was put off it
	born
	died
	dataFault // it has had to wait for a page, as a rule for the disk: these two in the order of format.SwitchData
	textFault // the same, for one with instructions
	gapFrom   // of all threads: from now on records are missing
	gapTo     // all are there again
)

// record is one that the kernel wrote, or that stands for those it could not write.
type record struct {
	time int64 // ns of the monotonic clock
	tid  uint32
	what what
}

// stream is what one CPU's ring tells.
type stream struct {
	pid  uint32
	from map[uint32]uint64 // which event tells of a thread
	last int64             // time of the last record
	lost int64             // records, as far as the kernel has told
}

// parse appends the records in b, of which the last is whole, to dst.
func (s *stream) parse(dst []record, b []byte) []record {
	parse(b, (*Event).fault, func(e *Event) {
		s.last = max(s.last, e.Time)
		r := record{time: e.Time, tid: e.TID}
		switch e.Kind {
		case KindSwitch:
			r.what = what(e.How())
			if e.PID != s.pid || s.of(r.tid, e.ID) != e.ID {
				return
			}
		case KindSample: // see switching; told twice it is the same
			if r.what = dataFault; e.text() {
				r.what = textFault
			}
			if e.PID != s.pid {
				return
			}
		case KindFork, kindExit:
			if r.what = born; e.PID != s.pid {
				return
			}
			if e.Kind == kindExit {
				delete(s.from, r.tid)
				r.what = died
			}
		default:
			s.lost += e.Lost
			return // when something is lost the ring's being full tells
		}
		dst = append(dst, r)
	})
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
