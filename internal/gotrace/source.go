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

// maxAlive bounds the goroutines that there are at one time.
const maxAlive = 4 << 20

var (
	errMany  = fmt.Errorf("it has more than %d goroutines at a time", maxAlive)
	errEmpty = errors.New("nothing of it is there")
)

// checkVersion tells whose traces can be read and aligned with others: those that the decoder
// knows, and that tell what the clocks were.
func checkVersion(head []byte) error {
	if len(head) == 0 {
		return errEmpty
	}
	v, err := gowire.Version(head)
	if err == nil && v < clocksTold {
		return tooOld(v)
	}
	return err
}

// clocksTold is the version from which on a generation tells what the clocks were.
const clocksTold = 25

// item is what was decoded of an event. Its stacks and texts are by numbers: until it is taken
// those of its generation, then the reader's.
type item struct {
	time           int64
	goid, by       uint64
	thread         uint32
	stack, byStack uint32
	text           uint32 // a reason, or what a range is called
	proc           int32
	kind           exptrace.EventKind
	from, to       GoState
	whole          bool // the range is the whole program's
}

// part is some items in a row of one generation.
type part struct {
	clock  *exptrace.ClockSnapshot // of the first part of a generation, if that tells it
	begins int64                   // then: its time, by the stream's clock
	first  bool
	items  []item
	stacks []exptrace.Stack // that were not told in parts before
	texts  []string         // likewise
}

// partSize is how many items a part has.
const partSize = 512

// source decodes one generation, on two goroutines of its own: one has the decoder read events,
// and one makes items of them.
type source struct {
	give   func(*part) bool // false: nothing more is wanted
	size   int64            // bytes
	stamps *stamps
	order  order
	part   *part
	old    bool // it does not tell what the clocks were
	began  bool
	stacks map[exptrace.Stack]uint32
	texts  map[string]uint32
	events int64
	alive  int // goroutines
}

// decode decodes a generation, and gives what it finds in parts. The error is why it did not
// get to the end; rough reports that times may be too late, see stamps.
func decode(g *gowire.Generation, give func(*part) bool) (rough int64, err error) {
	s := &source{
		give: give, size: g.Size(), old: g.Version < clocksTold, stamps: stampsOf(g), order: order{last: map[uint64]*int64{}},
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

// errEnough says that nothing more is wanted.
var errEnough = errors.New("enough")

func (s *source) all(g *gowire.Generation) (err error) {
	defer contain(&err)
	var failed error
	stop, full := make(chan struct{}), make(chan *events, eventsAhead)
	go func() {
		defer close(full)
		failed = readEvents(g, full, stop)
	}()
	defer func() { // nothing reads the generation any more
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

// events are some that the decoder has read.
type events struct {
	n  int
	of [256]exptrace.Event
}

// eventsAhead is how many of those are read ahead.
const eventsAhead = 4

var eventLists = sync.Pool{New: func() any { return &events{} }}

func (e *events) free() {
	clear(e.of[:e.n]) // they have their generation
	e.n = 0
	eventLists.Put(e)
}

// readEvents has the decoder read a generation, until stop is closed. The error is nil at its end.
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

// misuse is how the decoder's error begins where the program has ended a region that is not the
// innermost of the goroutine. That says nothing about what goroutines did; goscopes counts it.
const misuse = "misuse of region"

// again reads a generation once more, without its regions, up to the event behind the first so many.
func again(g *gowire.Generation, read int) (e exptrace.Event, r *exptrace.Reader, err error) {
	r, err = exptrace.NewReader(g.WithoutRegions())
	for n := 0; n <= read && err == nil; n++ {
		e, err = r.ReadEvent()
	}
	return e, r, err
}

// take takes in an event.
func (s *source) take(e *exptrace.Event) error {
	if s.events++; s.events > 64+8*s.size { // every event takes a byte, and gives at most three
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

// put gives an item away, with others. It reports whether more is wanted.
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

// decode takes an event apart and reports whether it is of use.
func (s *source) decode(e *exptrace.Event, it *item) bool {
	var st exptrace.StateTransition
	told := e.Time()
	at := int64(told)
	switch it.kind = e.Kind(); it.kind {
	case exptrace.EventSync:
		snap := e.Sync().ClockSnapshot
		if s.began || snap == nil && (!s.old || at <= 0) {
			return false // the decoder also says so at the end, and where it fails
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
	s.stamps.prev = int64(told)
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

// transition takes a goroutine's change of state apart.
func (s *source) transition(e *exptrace.Event, st *exptrace.StateTransition, it *item) {
	from, to := st.Goroutine()
	it.goid, it.from, it.to = goid(st.Resource.Goroutine()), state(from), state(to)
	it.stack, it.text = s.stack(st.Stack), s.text(st.Reason)
	switch {
	case from.Executing() || to.Executing():
		it.thread, it.proc = thread(e), int32(e.Proc())
		if from == exptrace.GoRunning && to == exptrace.GoWaiting && st.Reason == "" {
			it.text = s.text("coroutine") // the only ones without
		}
	case from == exptrace.GoNotExist || from == exptrace.GoWaiting && to == exptrace.GoRunnable:
		it.by, it.byStack = goid(e.Goroutine()), s.stack(e.Stack())
		if to == exptrace.GoWaiting {
			it.text = s.text("coroutine") // made by iter.Pull, and not begun
		}
	}
}

// stack is a stack's number in the generation, 0 for none.
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

// text is a text's number in the generation, 0 for none.
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

// firstLine shortens an error of the decoder, which may dump all it knows.
func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	if len(s) > 200 {
		s = s[:200] + " …"
	}
	return strings.ToValidUTF8(s, "?")
}
