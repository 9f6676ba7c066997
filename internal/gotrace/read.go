package gotrace

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/trace"
)

// input is a stream to be read.
type input struct {
	stream  uint32
	name    string
	missing bool // a part of it is missing
	open    func() io.Reader
}

// reader joins the streams into one sequence.
type reader struct {
	t     *trace.Trace // the trace to check streams against; nil: none
	clock clock        // for a stream that has not begun
	h     Handler
	info  *Info
	end   int64 // of the trace: later items are not delivered

	gs       map[uint64]*goroutine
	lately   Lately[goroutine] // for gs
	problems int

	num uint32 // number of the stream, from 1 on
	cut int64  // everything earlier was delivered already, or precedes the trace
	to  int64  // end of what was delivered

	// Of the stream being read:
	id      uint32
	started bool
	from    int64 // its first moment
	since   int64 // begin of the generation
	overlap bool  // it began before the previous stream ended
	quiet   bool  // its time has not reached cut
	ranges  map[rangeKey]int64
	tr      Transition // being delivered
}

// goroutine is the state of a goroutine while it exists.
type goroutine struct {
	sent GoState    // the state delivered last
	num  uint32     // the stream that mentioned it last
	last Transition // its last transition in a stream whose time has not reached cut
}

type rangeKey struct {
	name string
	goid uint64 // 0 for the whole program's
}

func newReader(h Handler) *reader {
	r := &reader{h: h, info: &Info{stacks: newStacks()}, gs: map[uint64]*goroutine{}}
	if h.After != nil {
		r.info.stacks = h.After.stacks
	}
	r.info.stacks.pcs = h.PCs
	if h.Info != nil {
		h.Info(r.info)
	}
	return r
}

// stream reads one stream. It returns an error only if the trace itself can't be read.
func (r *reader) stream(g *input) error {
	r.num++
	r.id, r.started, r.quiet, r.ranges = g.stream, false, true, map[rangeKey]int64{}
	ok, err := r.check(g)
	if !ok || err != nil {
		return err
	}
	c := r.clock
	s, err := open(g.open(), r.info.stacks, &c, maxAhead)
	defer s.close()
	if err != nil {
		return r.ended(g, s, err)
	}
	var it item
	now := int64(math.MinInt64)
	for {
		err = s.next(&it)
		if err != nil && err != io.EOF && s.goesOn() {
			r.skip(g, s, err, now)
			continue
		}
		if err != nil {
			break
		}
		if it.time > r.end {
			err = io.EOF
			break
		}
		it.time = max(it.time, now) // the clocks of two generations were read a little apart
		now = it.time               // below 0: before the trace
		r.pass(it.time)
		r.take(s, &it)
	}
	r.info.Rough += s.rough
	if r.started {
		r.leave(now)
	}
	return r.ended(g, s, err)
}

// skip continues after a generation that could not be read, as if another stream began there.
func (r *reader) skip(g *input, s *flow, err error, now int64) {
	if r.started {
		r.leave(now)
	}
	r.problem(g, fmt.Sprintf("generation %d: %s; it is good up to %v, and from the generation after it on", s.failed, firstLine(err), time.Duration(r.to).Round(time.Millisecond)), !cutOff(err))
	r.num++
	r.started, r.quiet, r.ranges = false, true, map[rangeKey]int64{}
}

// ended reports as a problem why a stream could not be read to its end. It returns only errors
// of reading the trace itself.
func (r *reader) ended(g *input, s *flow, err error) error {
	if s.broken != nil {
		return s.broken
	}
	why := ""
	switch {
	case g.missing && cutOff(err):
		why = "a part of it is missing: it was overwritten, or there was no room for it"
	case err == io.EOF:
		return nil
	case cutOff(err):
		why = "its end is missing: the program was killed, or is still writing it"
		if ended := r.gaveUp(); ended != "" {
			why = "its end is missing; tracing ended " + ended
		}
	default:
		why = firstLine(err)
		if s.failed > 1 {
			why = fmt.Sprintf("generation %d: %s", s.failed, why)
		}
	}
	r.info.Missing = r.info.Missing || cutOff(err)
	if !r.started {
		why += "; nothing of it can be read"
	} else {
		why += fmt.Sprintf("; it is good up to %v", time.Duration(r.to).Round(time.Millisecond))
	}
	r.problem(g, why, !cutOff(err))
	return nil
}

// gaveUp returns why the recorder stopped taking Go's execution trace, or "" if it did not.
func (r *reader) gaveUp() string {
	if r.t == nil {
		return ""
	}
	return r.t.Lookup(FactEnded)
}

// maxProblems limits the problems reported of a trace with many bad streams.
const maxProblems = 100

func (r *reader) problem(g *input, why string, damage bool) {
	if r.problems++; r.problems > maxProblems {
		return
	}
	why = g.name + ": " + why
	r.info.Problems = append(r.info.Problems, why)
	if damage {
		r.info.Damage = append(r.info.Damage, why)
	}
}

// cutOff reports whether an error of the decoder means that the rest is missing.
func cutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errEmpty) ||
		err.Error() == "incomplete generation found; trace likely truncated" || strings.HasPrefix(err.Error(), "failed to read full batch")
}

// pass advances the time of the stream.
func (r *reader) pass(now int64) {
	if !r.started {
		r.started, r.from = true, now
		if r.num > 1 && now > r.to {
			r.forget()
		}
		if r.overlap = r.num > 1 && now <= r.to; r.overlap {
			r.cut = r.to
		} else {
			r.cut = max(now, 0)
		}
	}
	// The previous stream has delivered what happened at the moment of its end.
	if r.quiet && (now > r.cut || now == r.cut && !r.overlap) {
		r.speak()
	}
}

// take processes an item.
func (r *reader) take(s *flow, it *item) {
	switch it.kind {
	case exptrace.EventSync:
		r.since = it.time
	case exptrace.EventStateTransition:
		r.tr = Transition{
			Time: it.time, Goid: it.goid, From: it.from, To: it.to, Reason: s.texts[it.text], Stack: it.stack,
			Thread: it.thread, Proc: it.proc, By: it.by, ByStack: it.byStack, Stream: r.id, Generation: s.number,
		}
		if it.from == Unknown && it.to == Waiting {
			r.tr.Reason = r.info.stacks.reason(it.stack)
		}
		r.transition(&r.tr)
	case exptrace.EventStackSample:
		if !r.quiet && it.time >= r.cut {
			r.info.Samples++
			if r.h.Sample != nil {
				r.h.Sample(&Sample{it.time, it.goid, it.thread, it.stack})
			}
		}
	case exptrace.EventRangeBegin, exptrace.EventRangeActive, exptrace.EventRangeEnd:
		k := rangeKey{s.texts[it.text], it.goid}
		if it.whole {
			k.goid = 0
		}
		from, open := r.ranges[k]
		switch {
		case it.kind == exptrace.EventRangeEnd && open:
			delete(r.ranges, k)
			r.ranged(k, from, it.time)
		case it.kind == exptrace.EventRangeBegin:
			r.begun(k, it.time)
		case it.kind == exptrace.EventRangeActive && !open:
			r.begun(k, r.from)
		}
	}
}

func (r *reader) begun(k rangeKey, from int64) {
	r.ranges[k] = from
	if !r.quiet && r.h.Begun != nil {
		r.h.Begun(&Range{From: max(from, r.cut), Name: k.name, Goid: k.goid})
	}
}

func (r *reader) ranged(k rangeKey, from, to int64) {
	from = max(from, r.cut)
	if r.quiet || to < from {
		return
	}
	r.info.Ranges++
	if r.h.Range != nil {
		r.h.Range(&Range{from, to, k.name, k.goid})
	}
}

func (r *reader) transition(tr *Transition) {
	g := r.lately.Of(r.gs, tr.Goid)
	if g == nil {
		if tr.Goid == 0 {
			return
		}
		g = &goroutine{}
		r.gs[tr.Goid] = g
	}
	first := g.num != r.num
	g.num = r.num
	if r.quiet {
		g.last = *tr
		return
	}
	if first && tr.From == Unknown {
		tr.Time = max(r.cut, r.since) // reported late: the state has been this since the stream began
	}
	if g.sent != Unknown || tr.From != NotExist {
		tr.From = g.sent
	}
	if tr.From != tr.To {
		r.deliver(g, tr)
	}
}

// deliver delivers a transition to the Handler.
func (r *reader) deliver(g *goroutine, tr *Transition) {
	if g.sent = tr.To; tr.To == NotExist || tr.To == Unknown {
		delete(r.gs, tr.Goid)
		r.lately.Forget(tr.Goid)
	}
	if tr.From == Unknown && (tr.To == NotExist || tr.To == Unknown) {
		return
	}
	r.info.Transitions++
	if r.h.Transition != nil {
		r.h.Transition(tr)
	}
}

// speak begins to deliver the stream, from the end of the previous one.
func (r *reader) speak() {
	r.quiet = false
	if n := len(r.info.Stretches); n == 0 || r.info.Stretches[n-1].To < r.cut {
		r.info.Stretches = append(r.info.Stretches, Stretch{r.cut, r.cut})
	}
	for _, id := range slices.Sorted(maps.Keys(r.gs)) {
		if g := r.gs[id]; g.num == r.num && g.sent != g.last.To {
			tr := g.last
			tr.Time, tr.From, tr.By, tr.ByStack = r.cut, g.sent, 0, 0
			r.deliver(g, &tr)
		}
	}
	for k, from := range r.ranges {
		r.begun(k, from)
	}
}

// leave ends a stream.
func (r *reader) leave(now int64) {
	if r.quiet {
		return // all of it was delivered already
	}
	for k, from := range r.ranges {
		r.ranged(k, from, now)
	}
	for _, id := range slices.Sorted(maps.Keys(r.gs)) {
		if r.gs[id].num != r.num {
			r.lose(id, r.cut) // the previous stream had the goroutine, and this one does not
		}
	}
	r.to = now
	r.info.Stretches[len(r.info.Stretches)-1].To = now
}

// forget sets all goroutines to Unknown, because the states that follow are unknown.
func (r *reader) forget() {
	for _, id := range slices.Sorted(maps.Keys(r.gs)) {
		r.lose(id, r.to)
	}
	clear(r.gs)
	r.lately = Lately[goroutine]{}
}

func (r *reader) lose(id uint64, at int64) {
	g := r.gs[id]
	r.deliver(g, &Transition{Time: at, Goid: id, From: g.sent, To: Unknown, Proc: -1})
}

func (r *reader) finish() {
	r.forget()
	if s := r.info.Stretches; len(s) > 0 {
		r.info.From, r.info.To = s[0].From, s[len(s)-1].To
	}
	if n := r.problems - maxProblems; n > 0 {
		r.info.Problems = append(r.info.Problems, fmt.Sprintf("there are %d more problems with Go execution traces", n))
	}
	if n := r.info.stacks.refused; n > 0 {
		r.info.Problems = append(r.info.Problems, fmt.Sprintf("there are more than %d stacks; %d times one is not known", maxStacks, n))
		r.info.stacks.refused = 0
	}
}
