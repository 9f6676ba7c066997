package perf

// what is the kind of a record.
type what uint8

const (
	in        what = iota // the thread got a CPU: the first three are as in format.SwitchKind
	out                   // it left the CPU to wait
	preempted             // it was preempted
	born
	died
	dataFault // it had to wait for a page, usually from the disk: these two are in the order of format.SwitchData
	textFault // likewise, for a page of instructions
	gapFrom   // for all threads: records are missing from now on
	gapTo     // no records are missing from now on
)

// record is a record of the kernel, or marks where records are missing.
type record struct {
	time int64 // ns of the monotonic clock
	tid  uint32
	what what
}

// stream parses the records of one CPU's ring.
type stream struct {
	pid  uint32
	from map[uint32]uint64 // by thread, the event whose records count
	last int64             // time of the last record
	lost int64             // number of lost records, as far as the kernel has reported them
}

// parse appends the records in b, the last of which is complete, to dst.
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
		case KindSample: // see switching; a repeated one is harmless
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
			return // losses are detected by the ring being full
		}
		dst = append(dst, r)
	})
	return dst
}

// of returns the event whose records count for the thread: the first one seen.
func (s *stream) of(tid uint32, event uint64) uint64 {
	first, ok := s.from[tid]
	if !ok {
		s.from[tid] = event
		return event
	}
	return first
}

// The keys of facts that a recording gets.
const (
	// FactSwitches is "on", or "off: " and the reason.
	FactSwitches = "thread_switches"
	// factLost is the number of records that the kernel had to discard.
	factLost = "thread_switches_lost"
	// FactPaused is the time for which the recording of switches was paused, because it took
	// more than its share of the recording's budget: "now and then", or at the end "82% of the
	// time".
	FactPaused = "thread_switches_paused"
	// factClockBegin and factClockEnd are two numbers separated by a blank: ns of the monotonic
	// clock, and the CPU time of all threads at that time. Between the two every switch was
	// recorded, except those that were lost or fell into a pause, so that sums computed from
	// switches can be checked.
	factClockBegin = "thread_clock_begin"
	factClockEnd   = "thread_clock_end"
)
