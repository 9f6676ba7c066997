package gotrace

import (
	"encoding/binary"
	"io"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/gowire"
)

// stamps reads along with the decoder, for the times of events as they were written.
//
// The decoder puts the events of all threads into one order. Where one thread was put
// off the CPU in the middle of telling something that others depend on (most often the
// runtime's own, taking a processor away from a system call), its event comes late, and
// the decoder gives all that had to wait for it later times than they had: a nanosecond
// each, however long they took. On a machine with more to do than processors milliseconds
// of running vanish so. The times are in the thread's own bytes, and each thread's events
// are delivered in their order.
//
// If what is delivered is not what was read here, the decoder's times are used up to the
// next generation.
type stamps struct {
	r    io.Reader
	buf  []byte // not yet taken apart
	head bool   // the header is behind us
	gens []*rawGeneration
	lost bool // what is read makes no sense: no more of it

	now   *rawGeneration // the one that is delivered; nil: its times are not known
	prev  int64          // the time of the last event that was delivered
	rough int64          // generations of which, or of whose end, the times are not known
}

// rawGeneration is the batches of one generation.
type rawGeneration struct {
	number  uint64
	scale   float64 // ns for a unit of time
	threads map[uint64]*rawThread
}

type rawThread struct {
	batches []rawBatch
	at      int   // in the first batch's data
	last    int64 // ns: the time of the event before, 0 at a batch's beginning
	peeked  bool
	kind    byte
	time    int64
	extra   int // so many more events are made of the last one
}

type rawBatch struct {
	time uint64
	data []byte
}

// Numbers of events, as in Go's internal/trace/tracev2.
const (
	rawBatchBegin   = 1
	rawStacks       = 2
	rawStrings      = 4
	rawSamples      = 6
	rawFrequency    = 8
	rawProcStatus   = 13
	rawGoDestroySys = 18
	rawGoStatus     = 25
	rawGoSwitch     = 45
	rawGoSwitchEnd  = 46
	rawStatusStack  = 48
	rawExperimental = 49
	rawSync         = 50
	rawEnd          = 52
)

// rawArgs is how many numbers follow an event's time, by its number, from 9 on.
var rawArgs = [...]int8{2, 2, 0, 3, 2, 3, 1, 2, 0, 0, 2, 2, 3, 2, 0, 0, 3, 2, 0, 1, 2, 1, 1, 1, 2, 1, 1, 0, 1, 1, 1, 4, 2, 3, 3, 4, 2, 2, 3, 4}

const rawFirst = 9

// Read is what the decoder reads by.
func (s *stamps) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if !s.lost {
		s.buf = append(s.buf, p[:n]...)
		s.take()
	}
	return n, err
}

func (s *stamps) lose() { s.lost, s.buf, s.gens, s.now = true, nil, nil, nil }

// take takes whole batches apart.
func (s *stamps) take() {
	b := s.buf
	if !s.head {
		if len(b) < gowire.HeaderSize {
			return
		}
		s.head, b = true, b[gowire.HeaderSize:]
	}
	for len(b) > 0 && !s.lost {
		n := s.batch(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	s.buf = s.buf[:copy(s.buf, b)]
}

// batch takes one apart and returns its length, 0 if it is not whole.
func (s *stamps) batch(b []byte) int {
	at := 1
	switch b[0] {
	case rawEnd:
		return 1
	case rawExperimental:
		at++
	case rawBatchBegin:
	default:
		s.lose()
		return 0
	}
	var v [4]uint64 // generation, thread, time, length
	for i := range v {
		n := 0
		if at < len(b) {
			v[i], n = binary.Uvarint(b[at:])
		}
		if n < 0 || i == 3 && v[i] > 1<<20 {
			s.lose()
		}
		if n <= 0 {
			return 0
		}
		at += n
	}
	if uint64(len(b)-at) < v[3] {
		return 0
	}
	data := b[at : at+int(v[3])]
	if len(data) > 0 && b[0] == rawBatchBegin {
		s.keep(v[0], v[1], v[2], data)
	}
	return at + len(data)
}

func (s *stamps) keep(gen, thread, at uint64, data []byte) {
	var g *rawGeneration
	if n := len(s.gens); n > 0 && s.gens[n-1].number == gen {
		g = s.gens[n-1]
	} else {
		g = &rawGeneration{number: gen, threads: map[uint64]*rawThread{}}
		s.gens = append(s.gens, g)
	}
	switch data[0] {
	case rawStacks, rawStrings, rawSamples:
	case rawFrequency: // before Go 1.25
		if f, n := binary.Uvarint(data[1:]); n > 0 && f > 0 {
			g.scale = 1.0 / (float64(f) / 1e9)
		}
	case rawSync:
		if len(data) > 1 && data[1] == rawFrequency {
			if f, n := binary.Uvarint(data[2:]); n > 0 && f > 0 {
				g.scale = 1.0 / (float64(f) / 1e9)
			}
		}
	default:
		t := g.threads[thread]
		if t == nil {
			t = &rawThread{}
			g.threads[thread] = t
		}
		t.batches = append(t.batches, rawBatch{at, append([]byte(nil), data...)})
	}
}

// empty reports whether no generation is to be begun.
func (s *stamps) empty() bool { return len(s.gens) == 0 }

// begin begins a generation.
func (s *stamps) begin() {
	s.now = nil
	if len(s.gens) > 0 && s.gens[0].scale != 0 {
		s.now = s.gens[0]
	} else {
		s.rough++
	}
	if len(s.gens) > 0 {
		s.gens = s.gens[1:]
	}
}

// time is when an event was written, by the stream's clock. It is asked for each that the
// decoder delivers, but for samples; st is what it tells if it is a change of state.
func (s *stamps) time(e *exptrace.Event, st *exptrace.StateTransition) int64 {
	told := int64(e.Time())
	if s.now == nil {
		return told
	}
	t := s.now.threads[uint64(e.Thread())]
	if t != nil && t.extra > 0 {
		t.extra--
		return min(t.last, told)
	}
	status, goroutine := statusOf(st)
	fits := func(t *rawThread) bool {
		return t != nil && t.peek(s.now.scale) && (t.time == told || t.time < told && told == s.prev+1) &&
			(!goroutine || status == (t.kind == rawGoStatus || t.kind == rawStatusStack))
	}
	if !fits(t) {
		// A status may be told of a thread by another one.
		if t = nil; status || !goroutine {
			for _, other := range s.now.threads {
				if fits(other) && (other.kind == rawGoStatus || other.kind == rawStatusStack || other.kind == rawProcStatus) {
					t = other
					break
				}
			}
		}
		if t == nil {
			s.now = nil
			s.rough++
			return told
		}
	}
	t.peeked, t.last = false, t.time
	switch {
	case t.kind == rawGoSwitch || t.kind == rawGoSwitchEnd:
		t.extra = 2
	case t.kind == rawGoDestroySys && !goroutine:
		t.extra = 1
	}
	return t.time
}

// statusOf reports whether it is a goroutine's change of state, and if so, whether it only
// tells what that is.
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
	if t.kind = b[0]; t.kind < rawFirst || int(t.kind-rawFirst) >= len(rawArgs) {
		return false
	}
	at := 1
	for i := range 1 + rawArgs[t.kind-rawFirst] {
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return false
		}
		if i == 0 {
			t.time = int64(float64(v)*scale) + t.last
		}
		at += n
	}
	t.at += at
	t.peeked = true
	return true
}
