package doctor

import (
	"container/heap"
	"iter"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// A world simulates a program of goroutines on a number of cores and stores what they did as
// a model: the expected findings are known, and so is the time that the program would take
// without the problem, by simulating that too.
type world struct {
	m     *model
	now   int64
	free  int
	ready []*proc
	due   worldDues
	seq   int64
	next  uint64
	names []string
	where []string // stacks by id - 1
	slow  int64    // ns until a woken goroutine can have a core
}

const (
	us = int64(1000)
	ms = 1000 * us
)

// play runs main and the goroutines that it starts, until all are done.
func play(cores int, main func(p *proc)) *world {
	w := &world{free: cores, names: []string{""}}
	w.m = newModel(0, 0, func(id uint16) string { return w.names[id] })
	w.m.cores = Cores{float64(cores), "the test"}
	w.m.procs, w.m.asked, w.m.switches = int64(cores), float64(cores), true
	w.m.hasGo, w.m.drawn = true, true
	w.m.stack = func(id uint32) []*symbols.Frame {
		if id == 0 {
			return nil
		}
		// The part behind a # is the caller's place.
		name, _, called := strings.Cut(w.where[id-1], "#")
		if called {
			id = w.stackOf(name)
		}
		return []*symbols.Frame{{Func: "main." + name, File: "/src/main.go", Line: int(id)}}
	}
	w.make(nil, "main", main)
	for {
		for w.free > 0 && len(w.ready) > 0 {
			p := w.ready[0]
			w.ready = w.ready[1:]
			w.free--
			p.is(states.CPU)
			w.step(p)
		}
		if len(w.due) == 0 {
			break
		}
		d := heap.Pop(&w.due).(worldDue)
		w.now = d.time
		switch {
		case d.p.state == states.CPU || d.p.lock == gcOnCPU:
			w.step(d.p)
		case d.p.state == states.Runnable:
			w.ready = append(w.ready, d.p)
		default:
			w.wake(d.p, nil)
		}
	}
	w.m.to = w.now
	w.m.finish()
	return w
}

// time returns the duration of the run.
func (w *world) time() float64 { return float64(w.now) }

type worldDue struct {
	time, seq int64
	p         *proc
}

type worldDues []worldDue

func (d worldDues) Len() int { return len(d) }
func (d worldDues) Less(i, j int) bool {
	return d[i].time < d[j].time || d[i].time == d[j].time && d[i].seq < d[j].seq
}
func (d worldDues) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *worldDues) Push(x any)   { *d = append(*d, x.(worldDue)) }
func (d *worldDues) Pop() any {
	x := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return x
}

// proc is a goroutine of a world.
type proc struct {
	w     *world
	g     *gor
	state states.State
	since int64
	lock  int32
	send  bool
	stack uint32
	resum func() (int64, bool) // continues; returns the ns that it runs next, or -1 if it waits
	yield func(int64) bool
	depth int32
}

func (w *world) stackOf(place string) uint32 {
	for i, p := range w.where {
		if p == place {
			return uint32(i + 1)
		}
	}
	w.where = append(w.where, place)
	return uint32(len(w.where))
}

func (w *world) name(text string) uint16 {
	for i, n := range w.names {
		if n == text {
			return uint16(i)
		}
	}
	w.names = append(w.names, text)
	id := uint16(len(w.names) - 1)
	w.m.ids[text] = id
	return id
}

func (w *world) make(by *proc, place string, f func(p *proc)) {
	w.next++
	p := &proc{w: w, g: w.m.g(w.next), state: states.Runnable, since: w.now, lock: -1}
	p.g.from, p.g.created, p.g.site = w.now, by != nil, w.stackOf(place)
	if by != nil {
		p.g.creator = by.g.id
	}
	p.resum, _ = iter.Pull(func(yield func(int64) bool) {
		p.yield = yield
		f(p)
	})
	w.ready = append(w.ready, p)
}

// is changes the state of p.
func (p *proc) is(s states.State) { p.isBy(s, 0) }

func (p *proc) isBy(s states.State, by uint64) {
	if p.w.now > p.since {
		v := iv{from: p.since, to: p.w.now, state: p.state, lock: p.lock, send: p.send, stack: p.stack, by: by}
		v.core = running(v.state) || p.lock == gcOnCPU
		if v.lock == gcOnCPU {
			v.lock = -1
		}
		p.g.ivs = append(p.g.ivs, v)
	}
	p.state, p.since, p.lock, p.send, p.stack = s, p.w.now, -1, false, 0
}

// gcOnCPU marks a goroutine that has a core in state GC or Preempted.
const gcOnCPU = -2

// step continues p, which has a core.
func (w *world) step(p *proc) {
	ns, ok := p.resum()
	switch {
	case !ok:
		p.is(states.Unknown)
		p.g.ended, p.g.to = true, w.now
		w.free++
	case ns >= 0:
		w.at(w.now+ns, p)
	default:
		w.free++
	}
}

func (w *world) at(t int64, p *proc) {
	w.seq++
	heap.Push(&w.due, worldDue{t, w.seq, p})
}

func (w *world) wake(p, by *proc) {
	id := uint64(0)
	if by != nil {
		id = by.g.id
	}
	p.isBy(states.Runnable, id)
	if w.slow > 0 {
		w.at(w.now+w.slow, p)
		return
	}
	w.ready = append(w.ready, p)
}

// run computes for ns.
func (p *proc) run(ns int64) { p.yield(ns) }

// collect assists the garbage collector for ns.
func (p *proc) collect(ns int64) {
	p.is(states.GC)
	p.lock = gcOnCPU
	p.yield(ns)
	p.is(states.CPU)
}

// robbed loses its core to another program for ns.
func (p *proc) robbed(ns int64) {
	p.is(states.Preempted)
	p.lock = gcOnCPU
	p.yield(ns)
	p.is(states.CPU)
}

// wait waits until another goroutine wakes it.
func (p *proc) wait(s states.State, place string) {
	p.is(s)
	if place != "" {
		p.stack = p.w.stackOf(place)
	}
	p.yield(-1)
}

func (p *proc) sleep(ns int64, s states.State) {
	p.w.at(p.w.now+ns, p)
	p.wait(s, "sleep")
}

// gosched yields.
func (p *proc) gosched() {
	p.is(states.Runnable)
	p.w.ready = append(p.w.ready, p)
	p.yield(-1)
	if n := len(p.g.ivs); n > 0 && p.g.ivs[n-1].state == states.Runnable {
		p.g.ivs[n-1].yield = true
	}
}

// scope calls f in a scope.
func (p *proc) scope(name string, f func()) {
	from, n := p.w.now, len(p.g.spans)
	p.g.spans = append(p.g.spans, span{from: from, cpu: -1, name: p.w.name(name), depth: p.depth})
	p.depth++
	f()
	p.depth--
	p.g.spans[n].to = p.w.now
	cpu := int64(0)
	for i := p.g.at(from); i < len(p.g.ivs); i++ {
		if v := &p.g.ivs[i]; v.state == states.CPU {
			cpu += v.to - max(v.from, from)
		}
	}
	if p.state == states.CPU {
		cpu += p.w.now - max(p.since, from)
	}
	p.g.spans[n].cpu = cpu
}

// mutex is a lock of a world.
type mutex struct {
	n     int32
	owner *proc
	line  []*proc
	since int64
}

func (w *world) mutex(name string) *mutex {
	w.m.locks = append(w.m.locks, &lock{name: name, kind: format.LockMutex, every: true})
	return &mutex{n: int32(len(w.m.locks) - 1)}
}

func (p *proc) take(l *mutex) {
	x := p.w.m.locks[l.n]
	x.acquired++
	if l.owner != nil {
		x.contended++
		l.line = append(l.line, p)
		from := p.w.now
		p.is(states.Lock)
		p.lock = l.n
		p.yield(-1)
		x.waits = append(x.waits, turn{g: p.g, from: from, to: p.w.now})
	}
	l.owner, l.since = p, p.w.now
}

func (p *proc) give(l *mutex) {
	x := p.w.m.locks[l.n]
	x.holds = append(x.holds, turn{g: p.g, from: l.since, to: p.w.now})
	l.owner = nil
	if len(l.line) > 0 {
		next := l.line[0]
		l.line = l.line[1:]
		l.owner = next
		p.w.wake(next, p)
	}
}

// syncMutex is a lock that package scope does not record: only the place of its waits is
// known. A woken goroutine checks again whether it is free.
type syncMutex struct {
	taken bool
	line  []*proc
}

func (p *proc) lockSync(l *syncMutex, place string) {
	for l.taken {
		l.line = append(l.line, p)
		p.wait(states.Lock, place)
	}
	l.taken = true
}

func (p *proc) unlockSync(l *syncMutex) {
	l.taken = false
	if len(l.line) > 0 {
		next := l.line[0]
		l.line = l.line[1:]
		p.w.wake(next, p)
	}
}

// pipe is a channel of a world.
type pipe struct {
	room, n   int
	senders   []*proc
	receivers []*proc
}

func (p *proc) put(c *pipe) {
	switch {
	case len(c.receivers) > 0:
		r := c.receivers[0]
		c.receivers = c.receivers[1:]
		p.w.wake(r, p)
	case c.n < c.room:
		c.n++
	default:
		c.senders = append(c.senders, p)
		p.is(states.Channel)
		p.send, p.stack = true, p.w.stackOf("put")
		p.yield(-1)
	}
}

func (p *proc) get(c *pipe) {
	switch {
	case c.n > 0:
		c.n--
		if len(c.senders) > 0 {
			s := c.senders[0]
			c.senders = c.senders[1:]
			c.n++
			p.w.wake(s, p)
		}
	case len(c.senders) > 0:
		s := c.senders[0]
		c.senders = c.senders[1:]
		p.w.wake(s, p)
	default:
		c.receivers = append(c.receivers, p)
		p.wait(states.Channel, "get")
	}
}

// parallel runs f on n goroutines and waits for them.
func (p *proc) parallel(n int, f func(p *proc, i int)) {
	left, waiting := n, false
	for i := range n {
		p.w.make(p, "parallel", func(q *proc) {
			f(q, i)
			if left--; left == 0 && waiting {
				p.w.wake(p, q)
			}
		})
	}
	if left > 0 {
		waiting = true
		p.wait(states.Join, "join")
	}
}

// examine makes the report of a world.
func (w *world) examine() *Report { return w.m.report() }

func TestWorldPlaysItself(t *testing.T) {
	w := play(2, func(p *proc) {
		p.run(1 * ms)
		p.parallel(3, func(p *proc, i int) { p.run(4 * ms) })
		p.sleep(2*ms, states.Sleep)
	})
	if w.now != 11*ms {
		t.Errorf("took %d", w.now)
	}
}
