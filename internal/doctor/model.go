package doctor

import (
	"iter"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// model is what the rules look at. Times are ns from the trace's start.
type model struct {
	from, to  int64
	cores     Cores
	procs     int64   // GOMAXPROCS; 0: not known
	asked     float64 // the CPUs that it may use at once, and GOMAXPROCS at most; 0: not known
	limit     float64 // the cgroup's, in CPUs; 0: none, or not known
	switches  bool    // it is known when threads were on a CPU
	hasGo     bool    // there are states
	noGo      string  // why not, where there is a Go execution trace
	merged    int     // of so many processes; 0: the trace is of one
	gs        []*gor
	byID      map[uint64]*gor
	locks     []*lock
	beats     beats
	samples   []sample
	name      func(uint16) string
	stack     func(uint32) []gotrace.Frame
	sweep     *sweep
	ids       map[string]uint16
	placed    map[uint32]string        // of stacks, see place
	frames    map[string]gotrace.Frame // by their texts
	above     map[string]string        // of the text of a frame, that of the program's frame which called it; "": several did
	module    string                   // the program's
	given     map[string]trace.Place   // where names are from
	wakers    map[wakeup]int64         // ns that were waited at a place until somebody ended it at another
	base      *replayed                // nil: it could not be replayed
	bandwidth *Bandwidth
	drawn     bool // see Options

	locksUsed []*use   // by uses
	taken     int64    // by coreTime: what other programs had of the cores; -1: not computed yet
	starved   *Starved // nil: not known
}

// role is whose goroutine it is.
type role uint8

const (
	roleUser      role = iota
	roleCollector      // the garbage collector's
	roleRuntime        // another one of the runtime
	roleRecorder       // ours
)

// gor is a goroutine.
type gor struct {
	id, creator uint64
	from, to    int64 // of what is known of it
	track       string
	site        uint32
	created     bool // in the recording: from is its begin
	ended       bool
	role        role
	ivs         []iv   // by time
	spans       []span // by begin
	edge        int32  // as iv.edge: who made it
	flat        []flat // see flats
}

// iv is an interval of states.Read, in the range.
type iv struct {
	from, to int64
	by       uint64
	stack    uint32
	lock     int32 // what it waits for, an index of locks; -1: none, or not known
	edge     int32 // of the replay, and one: who ends it; 0: nobody who is known
	state    states.State
	core     bool // it took a core, or would have if another program had not
	send     bool // of states.Channel: to send
	yield    bool // of Runnable: it let others run by itself
}

// span is a scope.
type span struct {
	from, to int64
	cpu      int64 // -1: not known
	name     uint16
	depth    int32 // known where there are states
}

// flat is a stretch in which a scope is the innermost one.
type flat struct {
	from, to int64
	name     uint16
}

// lock is a lock, or a place where goroutines wait for one that is not ours.
type lock struct {
	addr                uint64
	addrs               []uint64 // of those that have no name and are waited for in the place that it is called by
	name                string   // safe to show
	object              bool     // and is that of an object, if addrs have none
	kind                format.LockKind
	place               bool // all that is known of it is where it is waited for
	waits, holds        []turn
	acquired, contended int64 // in the recording; acquired -1: not known
	shortWait           int64 // of waits that left no record
	every               bool  // all holds are recorded
}

// turn is a goroutine's wait for, or hold of, a lock.
type turn struct {
	g        *gor
	from, to int64
	shared   bool
	holder   uint64 // of a wait: who had it when it began; 0: not known
	open     bool   // it has not ended in the recording
	guessed  bool   // a hold that is known by those who waited for its end: it may have begun before
}

func (d turn) time() int64 { return d.to - d.from }

// beats is what the heartbeats in the range tell. -1: not known.
type beats struct {
	over         int64 // ns between the first and the last one
	user, system int64
	minor, major int64
	gcPause      int64
	wait         int64 // of the process's threads in the system's run queue
	throttled    int64 // by the cgroup's CPU limit
	busy, steal  int64 // of all CPUs of the machine
}

var unknownBeats = beats{user: -1, system: -1, minor: -1, major: -1, wait: -1, throttled: -1, busy: -1, steal: -1}

// cpuKnown reports whether the CPU time of the process is known.
func (b *beats) cpuKnown() bool { return b.over > 0 && b.user >= 0 && b.system >= 0 }

// sample is where a goroutine was when the CPU profile looked.
type sample struct {
	g     *gor
	at    int64
	polls bool   // in what one polls with
	loops bool   // in a loop in which it lets others run, and in no function that the loop calls
	alloc bool   // in making memory or clearing it up
	place string // the first frame that is the program's own
	stack uint32
}

// id is the id of a scope's name that was seen.
func (m *model) id(name string) uint16 { return m.ids[name] }

func (m *model) span() int64 { return m.to - m.from }

// rate is how often in a second something happens that did so many times.
func (m *model) rate(n int) int64 { return int64(float64(n) * 1e9 / float64(m.span())) }

// users yields the program's own goroutines.
func (m *model) users() iter.Seq[*gor] {
	return func(yield func(*gor) bool) {
		for _, g := range m.gs {
			if g.role == roleUser && !yield(g) {
				return
			}
		}
	}
}

// did yields what the program's own goroutines did.
func (m *model) did() iter.Seq2[*gor, *iv] {
	return func(yield func(*gor, *iv) bool) {
		for g := range m.users() {
			for i := range g.ivs {
				if !yield(g, &g.ivs[i]) {
					return
				}
			}
		}
	}
}

// crowded reports whether the program has more threads that run Go code than CPUs, so that
// they preempt each other. A limit of the cgroup is none of them: it stops all at once.
func (m *model) crowded() bool { return m.asked > 0 && float64(m.procs) > m.asked }

// running reports whether a goroutine in that state does its own work on a core.
func running(s states.State) bool {
	return s == states.CPU || s == states.Running || s == states.Syscall
}

// g returns the goroutine of that id, made if need be.
func (m *model) g(id uint64) *gor {
	g := m.byID[id]
	if g == nil {
		g = &gor{id: id, from: m.to, to: m.from}
		m.byID[id] = g
		m.gs = append(m.gs, g)
	}
	return g
}

// at is the index of the first interval that ends after t; len(g.ivs) behind the last.
func (g *gor) at(t int64) int {
	return sort.Search(len(g.ivs), func(i int) bool { return g.ivs[i].to > t })
}

// ran is how long g did its own work between two moments, or would have if other programs
// had let it.
func (g *gor) ran(from, to int64) int64 {
	return g.sum(from, to, func(v *iv) bool { return v.core && v.state != states.GC })
}

// onCPU is how long g was on a CPU with its own work.
func (g *gor) onCPU(from, to int64) int64 {
	return g.sum(from, to, func(v *iv) bool { return running(v.state) })
}

func (g *gor) sum(from, to int64, is func(v *iv) bool) (ns int64) {
	for i := g.at(from); i < len(g.ivs) && g.ivs[i].from < to; i++ {
		if v := &g.ivs[i]; is(v) {
			ns += min(v.to, to) - max(v.from, from)
		}
	}
	return ns
}

// scope is the name of the innermost scope at t, ok false if it is in none.
func (g *gor) scope(t int64) (name uint16, ok bool) {
	flat := g.flats()
	i := sort.Search(len(flat), func(i int) bool { return flat[i].to > t })
	if i < len(flat) && flat[i].from <= t {
		return flat[i].name, true
	}
	return 0, false
}

// scopesIn adds to times how long each scope was the innermost one between two moments.
func (g *gor) scopesIn(from, to int64, times map[uint16]int64) {
	flat := g.flats()
	i := sort.Search(len(flat), func(i int) bool { return flat[i].to > from })
	for ; i < len(flat) && flat[i].from < to; i++ {
		times[flat[i].name] += min(flat[i].to, to) - max(flat[i].from, from)
	}
}
