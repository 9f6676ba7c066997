package gotrace

import (
	"encoding/binary"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/gowire"
)

// stamps reads the batches of a generation in parallel with the decoder, to obtain the
// times of events as they were written.
//
// The decoder puts the events of all threads into one order. If a thread was taken off the
// CPU while it wrote an event that others depend on (mostly the runtime's own thread,
// taking a processor away from a system call), that event comes late. The decoder then
// delays all events that had to wait for it, by a nanosecond each, however long they took.
// On an overloaded machine milliseconds of running vanish in this way. The true times are
// in the bytes of each thread, whose events are delivered in their order.
//
// If the delivered events do not match those read here, the decoder's times are used up to
// the generation's end.
type stamps struct {
	now   *rawGeneration // nil: the times are unknown
	prev  int64          // time of the last event delivered
	rough int64          // 1: the times of the generation, or of its end, are unknown
}

// rawGeneration holds the batches of one generation.
type rawGeneration struct {
	scale   float64 // ns per unit of time
	threads map[uint64]*rawThread
}

type rawThread struct {
	batches []rawBatch
	at      int   // in the first batch's data
	last    int64 // ns, time of the previous event; 0 at a batch's beginning
	peeked  bool
	kind    byte
	time    int64
	extra   int // number of further events that the decoder makes of the last one
}

type rawBatch struct {
	time uint64
	data []byte
}

// stampsOf reads a generation's batches.
func stampsOf(g *gowire.Generation) *stamps {
	now := &rawGeneration{threads: map[uint64]*rawThread{}}
	for b := range g.Batches() {
		if b.Experimental || len(b.Data) == 0 || b.Data[0] <= gowire.Frequency || b.Data[0] == gowire.Sync {
			continue
		}
		t := now.threads[b.Thread]
		if t == nil {
			t = &rawThread{}
			now.threads[b.Thread] = t
		}
		t.batches = append(t.batches, rawBatch{b.Time, b.Data})
	}
	if _, now.scale = g.Clock(); now.scale == 0 {
		return &stamps{rough: 1}
	}
	return &stamps{now: now}
}

// time returns when an event was written, by the stream's clock. It must be called for
// each event that the decoder delivers, except samples; st is the change of state of the
// event, or nil.
func (s *stamps) time(e *exptrace.Event, st *exptrace.StateTransition) int64 {
	stamp := int64(e.Time())
	if s.now == nil {
		return stamp
	}
	t := s.now.threads[uint64(e.Thread())]
	if t != nil && t.extra > 0 {
		t.extra--
		return min(t.last, stamp)
	}
	status, goroutine := statusOf(st)
	fits := func(t *rawThread) bool {
		return t != nil && t.peek(s.now.scale) && (t.time == stamp || t.time < stamp && stamp == s.prev+1) &&
			(!goroutine || status == (t.kind == gowire.GoStatus || t.kind == gowire.GoStatusStack))
	}
	if !fits(t) {
		// Another thread may have written the status of this one.
		if t = nil; status || !goroutine {
			for _, other := range s.now.threads {
				if fits(other) && (other.kind == gowire.GoStatus || other.kind == gowire.GoStatusStack || other.kind == gowire.ProcStatus) {
					t = other
					break
				}
			}
		}
		if t == nil {
			s.now = nil
			s.rough++
			return stamp
		}
	}
	t.peeked, t.last = false, t.time
	switch {
	case t.kind == gowire.GoSwitch || t.kind == gowire.GoSwitchDestroy:
		t.extra = 2
	case t.kind == gowire.GoDestroySyscall && !goroutine:
		t.extra = 1
	}
	return t.time
}

// statusOf reports whether the event is a goroutine's change of state, and if so, whether
// it only states the current state.
func statusOf(st *exptrace.StateTransition) (status, goroutine bool) {
	if st == nil || st.Resource.Kind != exptrace.ResourceGoroutine {
		return false, false
	}
	from, to := st.Goroutine()
	return from == to || from == exptrace.GoUndetermined, true
}

// peek reads the thread's next event, as the decoder does.
func (t *rawThread) peek(scale float64) bool {
	if t.peeked {
		return true
	}
	for len(t.batches) > 0 && t.at == len(t.batches[0].data) {
		t.batches[0].data = nil
		t.batches, t.at, t.last = t.batches[1:], 0, 0
	}
	if len(t.batches) == 0 {
		return false
	}
	b := t.batches[0].data[t.at:]
	if t.last == 0 {
		t.last = int64(float64(t.batches[0].time) * scale)
	}
	t.kind = b[0]
	n, ok := gowire.Args(t.kind)
	if !ok {
		return false
	}
	at := 1
	for i := range 1 + n {
		v, size := binary.Uvarint(b[at:])
		if size <= 0 {
			return false
		}
		if i == 0 {
			t.time = int64(float64(v)*scale) + t.last
		}
		at += size
	}
	t.at += at
	t.peeked = true
	return true
}
