package gotrace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/gowire"
)

// maxGeneration bounds what the decoder keeps of one generation, about a second of the
// program. The busiest programs write a tenth of it.
const maxGeneration = 256 << 20

// maxAlive bounds the goroutines that there are at one time.
const maxAlive = 4 << 20

// source decodes one stream.
type source struct {
	in     *counted
	stamps *stamps
	order  order
	r      *exptrace.Reader
	failed error
	stacks *stackTable
	clock  *clock
	old    bool // it does not tell what the clocks were
	told   bool // a generation was read
	began  bool // the last that was heard of them was a beginning
	events int64
	alive  int // goroutines
}

// counted counts what is read of a stream, and of its generation.
type counted struct {
	r          io.Reader
	all, since int64
	err        error // of the trace itself
}

var (
	errLong  = fmt.Errorf("a generation of it has more than %d MiB", maxGeneration>>20)
	errMany  = fmt.Errorf("it has more than %d goroutines at a time", maxAlive)
	errEmpty = errors.New("nothing of it is there")
)

func (c *counted) Read(p []byte) (int, error) {
	if c.since > maxGeneration {
		return 0, errLong
	}
	n, err := c.r.Read(p)
	c.all, c.since = c.all+int64(n), c.since+int64(n)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		c.err = err
	}
	return n, err
}

// open reads the header. The error is a sentence about the stream.
func open(in io.Reader, stacks *stackTable, c *clock) (s *source, err error) {
	defer contain(&err)
	s = &source{in: &counted{r: in}, stacks: stacks, clock: c, order: order{last: map[uint64]int64{}}}
	s.stamps = &stamps{r: s.in}
	b := bufio.NewReader(s.stamps)
	head, _ := b.Peek(gowire.HeaderSize)
	v, _ := gowire.Version(head)
	s.old = v < clocksTold
	if err := checkVersion(head, !c.alone && !c.made); err != nil {
		return s, err
	}
	s.r, err = exptrace.NewReader(b)
	return s, err
}

// checkVersion tells whose traces can be read: those that the decoder knows, and where they
// are to be aligned with others, those that tell what the clocks were.
func checkVersion(head []byte, align bool) error {
	if len(head) == 0 {
		return errEmpty
	}
	v, err := gowire.Version(head)
	if err == nil && align && v < clocksTold {
		return fmt.Errorf("it is of Go 1.%d, and of those before 1.%d the clock is not known", v, clocksTold)
	}
	return err
}

// clocksTold is the version from which on a generation tells what the clocks were.
const clocksTold = 25

// item is what was decoded of an event.
type item struct {
	kind exptrace.EventKind
	time int64
	Transition
	name  string // ranges
	goid  uint64
	whole bool // the range is the whole program's
}

// next is the next event that means something to us, by time. The item's kind is
// EventSync where a generation begins. io.EOF is the end.
func (s *source) next(it *item) error {
	for !s.order.next(it, s.failed != nil) {
		if s.failed != nil {
			return s.failed
		}
		if s.failed = s.one(it); s.failed == nil {
			s.order.add(it, it.kind == exptrace.EventStateTransition)
		}
	}
	return nil
}

// one decodes the next event that the decoder delivers.
func (s *source) one(it *item) (err error) {
	defer contain(&err)
	for {
		e, err := s.r.ReadEvent()
		if err != nil {
			return err
		}
		if s.events++; s.events > 64+8*s.in.all { // every event takes a byte, and gives at most three
			return errors.New("it does not end")
		}
		if s.alive > maxAlive {
			return errMany
		}
		if s.decode(&e, it) {
			if !s.told {
				return errors.New("it begins without a clock")
			}
			return nil
		}
	}
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
		s.generation(e)
	case exptrace.EventStackSample:
	case exptrace.EventStateTransition:
		st = e.StateTransition()
		at = s.stamps.time(e, &st)
	default:
		at = s.stamps.time(e, nil)
	}
	s.stamps.prev = int64(told)
	it.time = s.clock.nanos(at)
	switch it.kind {
	case exptrace.EventSync:
		return s.told && s.began
	case exptrace.EventStateTransition:
		if st.Resource.Kind != exptrace.ResourceGoroutine {
			return false
		}
		s.transition(e, &st, &it.Transition)
		if it.From <= NotExist {
			s.alive++
		} else if it.To == NotExist {
			s.alive--
		}
		it.Time = it.time
		return true
	case exptrace.EventStackSample:
		it.Transition = Transition{Time: it.time, Goid: goid(e.Goroutine()), Thread: thread(e), Stack: s.stacks.id(e.Stack())}
		return true
	case exptrace.EventRangeBegin, exptrace.EventRangeActive, exptrace.EventRangeEnd:
		r := e.Range()
		it.name = s.stacks.intern(r.Name)
		it.goid, it.whole = goid(e.Goroutine()), r.Scope.Kind == exptrace.ResourceNone || strings.HasPrefix(r.Name, "stop-the-world")
		if r.Scope.Kind == exptrace.ResourceGoroutine && !it.whole {
			it.goid = goid(r.Scope.Goroutine())
		}
		return true
	}
	return false
}

// generation takes note of a generation's beginning. The decoder also says so at the end.
func (s *source) generation(e *exptrace.Event) {
	s.in.since = 0
	s.stacks.generation()
	snap := e.Sync().ClockSnapshot
	if s.began = snap != nil || s.old && !s.stamps.empty(); s.began {
		if snap != nil {
			s.clock.sync(snap)
		} else {
			s.clock.first(int64(e.Time()))
		}
		s.stamps.begin()
		s.told = true
	}
}

// transition takes a goroutine's change of state apart.
func (s *source) transition(e *exptrace.Event, st *exptrace.StateTransition, tr *Transition) {
	from, to := st.Goroutine()
	*tr = Transition{
		Goid: goid(st.Resource.Goroutine()),
		From: state(from), To: state(to), Proc: -1,
		Stack: s.stacks.id(st.Stack),
	}
	if st.Reason != "" {
		tr.Reason = s.stacks.intern(st.Reason)
	}
	switch {
	case from.Executing() || to.Executing():
		tr.Thread, tr.Proc = thread(e), int32(e.Proc())
		if from == exptrace.GoRunning && to == exptrace.GoWaiting && tr.Reason == "" {
			tr.Reason = "coroutine" // the only ones without
		}
	case from == exptrace.GoNotExist || from == exptrace.GoWaiting && to == exptrace.GoRunnable:
		tr.By, tr.ByStack = goid(e.Goroutine()), s.stacks.id(e.Stack())
		if to == exptrace.GoWaiting {
			tr.Reason = "coroutine" // made by iter.Pull, and not begun
		}
	case from == exptrace.GoUndetermined && to == exptrace.GoWaiting:
		tr.Reason = s.stacks.reason(tr.Stack)
	}
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
