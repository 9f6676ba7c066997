package gotrace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/gowire"
)

// maxAlive limits the number of goroutines at one time.
const maxAlive = 4 << 20

var (
	errMany  = fmt.Errorf("it has more than %d goroutines at a time", maxAlive)
	errEmpty = errors.New("it is empty")
)

// checkVersion returns an error unless the version of a trace can be read and aligned with others:
// the decoder must know it, and it must have clock snapshots.
func checkVersion(head []byte) error {
	if len(head) == 0 {
		return errEmpty
	}
	v, err := gowire.Version(head)
	if err == nil && v < clocksSince {
		return tooOld(v)
	}
	return err
}

// clocksSince is the first version whose generations have clock snapshots.
const clocksSince = 25

// item is a decoded event. Its stacks and texts are numbers: those of its generation until the
// reader takes it, then the reader's.
type item struct {
	time           int64
	goid, by       uint64
	thread         uint32
	stack, byStack uint32
	text           uint32 // a reason, or the name of a range
	proc           int32
	kind           exptrace.EventKind
	from, to       GoState
	whole          bool // the range is the whole program's
}

// part is a sequence of items of one generation.
type part struct {
	clock  *exptrace.ClockSnapshot // of the first part of a generation, if the generation has it
	begins int64                   // likewise: its time, by the stream's clock
	first  bool
	items  []item
	stacks []exptrace.Stack // those that no earlier part has
	texts  []string         // likewise
}

// partSize is the number of items of a part.
const partSize = 512

// source decodes one generation on two goroutines: one reads events with the decoder, and one turns
// them into items.
type source struct {
	give   func(*part) bool // false: stop decoding
	size   int64            // bytes
	stamps *stamps
	order  order
	part   *part
	old    bool // it has no clock snapshot
	began  bool
	stacks map[exptrace.Stack]uint32
	texts  map[string]uint32
	events int64
	alive  int // number of goroutines
}

// decode decodes a generation, and passes its items to give in parts. The error is the reason why
// it did not reach the end; rough is 1 if times may be too late, see stamps.
func decode(g *gowire.Generation, give func(*part) bool) (rough int64, err error) {
	s := &source{
		give: give, size: g.Size(), old: g.Version < clocksSince, stamps: stampsOf(g), order: order{last: map[uint64]*int64{}},
		stacks: map[exptrace.Stack]uint32{}, texts: map[string]uint32{"": 0}, part: newPart(),
	}
	err = s.all(g)
	var it item
	for s.order.next(&it, true) {
		s.put(&it)
	}
	s.flush()
	return s.stamps.rough, err
}

// errEnough reports that give has stopped the decoding.
var errEnough = errors.New("enough")

func (s *source) all(g *gowire.Generation) (err error) {
	defer contain(&err)
	var failed error
	stop, full := make(chan struct{}), make(chan *events, eventsAhead)
	go func() {
		defer close(full)
		failed = readEvents(g, full, stop)
	}()
	defer func() { // afterwards nothing reads the generation
		close(stop)
		for range full {
		}
	}()
	for list := range full {
		for i := range list.n {
			if err := s.take(&list.of[i]); err != nil {
				return err
			}
		}
		list.free()
	}
	return failed
}

// events is a batch of events from the decoder.
type events struct {
	n  int
	of [256]exptrace.Event
}

// eventsAhead is the number of batches that are read ahead.
const eventsAhead = 4

var eventLists = sync.Pool{New: func() any { return &events{} }}

func (e *events) free() {
	clear(e.of[:e.n]) // they refer to their generation
	e.n = 0
	eventLists.Put(e)
}

// readEvents reads a generation with the decoder, until stop is closed. It returns nil at the
// generation's end.
func readEvents(g *gowire.Generation, full chan<- *events, stop <-chan struct{}) (err error) {
	list := eventLists.Get().(*events)
	give := func() bool {
		select {
		case full <- list:
			return true
		case <-stop:
			return false
		}
	}
	defer give()
	defer contain(&err)
	r, err := exptrace.NewReader(g.Reader())
	for read := 0; err == nil; read++ {
		if list.n == len(list.of) {
			if !give() {
				return errEnough
			}
			list = eventLists.Get().(*events)
		}
		e := &list.of[list.n]
		if *e, err = r.ReadEvent(); err != nil && strings.HasPrefix(err.Error(), misuse) {
			*e, r, err = again(g, read)
		}
		if err == nil {
			list.n++
		}
	}
	if err == io.EOF {
		err = nil
	}
	return err
}

// misuse is the prefix of the decoder's error for a region that the program ended and that is not
// the innermost of the goroutine. The states of goroutines are not affected; goscopes counts such
// regions.
const misuse = "misuse of region"

// again reads a generation again, without its regions, up to the event after the first read ones.
func again(g *gowire.Generation, read int) (e exptrace.Event, r *exptrace.Reader, err error) {
	r, err = exptrace.NewReader(g.WithoutRegions())
	for n := 0; n <= read && err == nil; n++ {
		e, err = r.ReadEvent()
	}
	return e, r, err
}

// take processes an event.
func (s *source) take(e *exptrace.Event) error {
	if s.events++; s.events > 64+8*s.size { // an event has at least one byte, and yields at most three
		return errors.New("it does not end")
	}
	if s.alive > maxAlive {
		return errMany
	}
	it := item{proc: -1}
	if !s.decode(e, &it) {
		return nil
	}
	if !s.began {
		return errors.New("it begins without a clock")
	}
	s.order.add(&it, it.kind == exptrace.EventStateTransition)
	for s.order.next(&it, false) {
		if !s.put(&it) {
			return errEnough
		}
	}
	return nil
}

// put appends an item to the part. It returns false if the decoding is to stop.
func (s *source) put(it *item) bool {
	s.part.items = append(s.part.items, *it)
	return len(s.part.items) < partSize || s.flush()
}

func (s *source) flush() bool {
	p := s.part
	s.part = newPart()
	return s.give(p)
}

// contain turns a panic of the decoder into an error.
func contain(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("it can't be decoded: %v", v)
	}
}

// decode fills in an item from an event, and reports whether the event is of use.
func (s *source) decode(e *exptrace.Event, it *item) bool {
	var st exptrace.StateTransition
	stamp := e.Time()
	at := int64(stamp)
	switch it.kind = e.Kind(); it.kind {
	case exptrace.EventSync:
		snap := e.Sync().ClockSnapshot
		if s.began || snap == nil && (!s.old || at <= 0) {
			return false // the decoder also sends a sync at the end, and where it fails
		}
		s.began = true
		s.part.first, s.part.begins, s.part.clock = true, at, snap
	case exptrace.EventStackSample:
	case exptrace.EventStateTransition:
		st = e.StateTransition()
		at = s.stamps.time(e, &st)
	default:
		at = s.stamps.time(e, nil)
	}
	s.stamps.prev = int64(stamp)
	it.time = sane(at)
	switch it.kind {
	case exptrace.EventSync:
		return true
	case exptrace.EventStateTransition:
		if st.Resource.Kind != exptrace.ResourceGoroutine {
			return false
		}
		s.transition(e, &st, it)
		if it.from <= NotExist {
			s.alive++
		} else if it.to == NotExist {
			s.alive--
		}
		return true
	case exptrace.EventStackSample:
		it.goid, it.thread, it.stack = goid(e.Goroutine()), thread(e), s.stack(e.Stack())
		return true
	case exptrace.EventRangeBegin, exptrace.EventRangeActive, exptrace.EventRangeEnd:
		r := e.Range()
		it.text = s.text(r.Name)
		it.goid, it.whole = goid(e.Goroutine()), r.Scope.Kind == exptrace.ResourceNone || strings.HasPrefix(r.Name, "stop-the-world")
		if r.Scope.Kind == exptrace.ResourceGoroutine && !it.whole {
			it.goid = goid(r.Scope.Goroutine())
		}
		return true
	}
	return false
}

// transition fills in an item from a goroutine's change of state.
func (s *source) transition(e *exptrace.Event, st *exptrace.StateTransition, it *item) {
	from, to := st.Goroutine()
	it.goid, it.from, it.to = goid(st.Resource.Goroutine()), state(from), state(to)
	it.stack, it.text = s.stack(st.Stack), s.text(st.Reason)
	switch {
	case from.Executing() || to.Executing():
		it.thread, it.proc = thread(e), int32(e.Proc())
		if from == exptrace.GoRunning && to == exptrace.GoWaiting && st.Reason == "" {
			it.text = s.text("coroutine") // the only transitions without a reason
		}
	case from == exptrace.GoNotExist || from == exptrace.GoWaiting && to == exptrace.GoRunnable:
		it.by, it.byStack = goid(e.Goroutine()), s.stack(e.Stack())
		if to == exptrace.GoWaiting {
			it.text = s.text("coroutine") // created by iter.Pull, and not begun
		}
	}
}

// stack returns a stack's number in the generation, 0 for none.
func (s *source) stack(x exptrace.Stack) uint32 {
	if x == exptrace.NoStack {
		return 0
	}
	id, ok := s.stacks[x]
	if !ok {
		id = uint32(len(s.stacks) + 1)
		s.stacks[x] = id
		s.part.stacks = append(s.part.stacks, x)
	}
	return id
}

// text returns a text's number in the generation, 0 for none.
func (s *source) text(x string) uint32 {
	id, ok := s.texts[x]
	if !ok {
		id = uint32(len(s.texts))
		s.texts[x] = id
		s.part.texts = append(s.part.texts, x)
	}
	return id
}

func goid(g exptrace.GoID) uint64 {
	if g <= 0 {
		return 0
	}
	return uint64(g)
}

func thread(e *exptrace.Event) uint32 {
	if t := e.Thread(); t > 0 {
		return uint32(t)
	}
	return 0
}

func state(s exptrace.GoState) GoState {
	if s > exptrace.GoSyscall {
		return Unknown
	}
	return GoState(s)
}

// firstLine shortens an error of the decoder, which may dump its whole state.
func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	if len(s) > 200 {
		s = s[:200] + " …"
	}
	return strings.ToValidUTF8(s, "?")
}
