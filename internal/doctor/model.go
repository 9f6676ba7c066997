package doctor

import (
	"iter"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// model is the data that the rules read. Times are ns from the trace's start.
type model struct {
	from, to  int64
	cores     Cores
	procs     int64   // GOMAXPROCS; 0: not known
	asked     float64 // CPUs that it may use at once, at most GOMAXPROCS; 0: not known
	limit     float64 // the cgroup's, in CPUs; 0: none, or not known
	switches  bool    // the times at which threads were on a CPU are known
	hasGo     bool    // states are known
	noGo      string  // reason why a Go execution trace gives no states
	merged    int     // number of processes of a merged trace; 0: not merged
	gs        []*gor
	byID      map[uint64]*gor
	locks     []*lock
	beats     beats
	samples   []sample
	name      func(uint16) string
	stack     func(uint32) []*symbols.Frame
	sweep     *sweep
	ids       map[string]uint16
	placed    map[uint32]string        // texts of stacks, see place
	frames    map[string]symbols.Frame // by their texts
	above     map[string]string        // by a frame's text, the text of the program's frame that called it; "": several did
	module    string                   // the program's module path
	given     map[string]trace.Place   // places where names were given
	wakers    map[wakeup]int64         // ns of waits at a place that ended at another one
	base      *replayed                // nil: could not be replayed
	bandwidth *Bandwidth
	drawn     bool // see Options

	locksUsed []*use   // returned by uses
	taken     int64    // ns of core time that other programs took, by coreTime; -1: not computed yet
	starved   *Starved // nil: not known
}

// role is the owner of a goroutine.
type role uint8

const (
	roleUser      role = iota
	roleCollector      // the garbage collector's
	roleRuntime        // another part of the runtime's
	roleRecorder       // package scope's
)

// gor is a goroutine.
type gor struct {
	id, creator uint64
	from, to    int64 // first and last time of its intervals
	track       string
	site        uint32
	created     bool // in the recording: it began at from
	ended       bool
	role        role
	ivs         []iv   // by time
	spans       []span // by begin
	edge        int32  // as iv.edge: the creation
	flat        []flat // see flats
}

// iv is an interval of states.Read, cut to the range.
type iv struct {
	from, to int64
	by       uint64
	stack    uint32
	lock     int32 // index in locks of the lock that it waits for; -1: none, or not known
	edge     int32 // index of the replay's edge that ends it, plus one; 0: no known goroutine ends it
	state    states.State
	core     bool // it used a core, or would have but for another program
	send     bool // of states.Channel: a send
	yield    bool // of Runnable: the goroutine yielded
}

// span is a scope.
type span struct {
	from, to int64
	cpu      int64 // ns; -1: not known
	name     uint16
	depth    int32 // known only if states are
}

// flat is a stretch of time in which a scope is the innermost one.
type flat struct {
	from, to int64
	name     uint16
}

// lock is a lock, or a place where goroutines wait for a lock that package scope does not
// record.
type lock struct {
	addr                uint64
	addrs               []uint64 // addresses of the unnamed locks that are waited for at the place that names this one
	name                string   // safe to show
	object              bool     // name is an object's, if addrs have no name
	kind                format.LockKind
	place               bool // only the place of its waits is known
	waits, holds        []turn
	acquired, contended int64 // in the recording; acquired -1: not known
	shortWait           int64 // ns of waits without a record
	every               bool  // all holds are recorded
}

// turn is a goroutine's wait for, or hold of, a lock.
type turn struct {
	g        *gor
	from, to int64
	shared   bool
	holder   uint64 // of a wait: the holder at its begin; 0: not known
	open     bool   // it has not ended in the recording
	guessed  bool   // a hold inferred from its waiters: it may have begun earlier
}

func (d turn) time() int64 { return d.to - d.from }

// beats are sums of the heartbeats in the range. -1: not known.
type beats struct {
	over         int64 // ns between the first and the last one
	user, system int64
	minor, major int64
	gcPause      int64
	wait         int64 // ns of the process's threads in the system's run queue
	throttled    int64 // ns, by the cgroup's CPU limit
	busy, steal  int64 // ns, of all CPUs of the machine
}

var unknownBeats = beats{user: -1, system: -1, minor: -1, major: -1, wait: -1, throttled: -1, busy: -1, steal: -1}

// cpuKnown reports whether the CPU time of the process is known.
func (b *beats) cpuKnown() bool { return b.over > 0 && b.user >= 0 && b.system >= 0 }

// sample is a sample of the CPU profile.
type sample struct {
	g     *gor
	at    int64
	polls bool   // in a function that one polls with
	loops bool   // in a loop that yields, and in no function that the loop calls
	alloc bool   // in allocating or clearing memory
	place string // first frame of the program's own
	stack uint32
}

// id returns the id of a scope name that the trace has.
func (m *model) id(name string) uint16 { return m.ids[name] }

func (m *model) span() int64 { return m.to - m.from }

// rate returns a count as a rate per second.
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

// did yields the intervals of the program's own goroutines.
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
// they preempt each other. A cgroup's limit does not count: it stops all threads at once.
func (m *model) crowded() bool { return m.asked > 0 && float64(m.procs) > m.asked }

// running reports whether a goroutine in that state does its own work on a core.
func running(s states.State) bool {
	return s == states.CPU || s == states.Running || s == states.Syscall
}

// g returns the goroutine with the given id, and creates it if necessary.
func (m *model) g(id uint64) *gor {
	g := m.byID[id]
	if g == nil {
		g = &gor{id: id, from: m.to, to: m.from}
		m.byID[id] = g
		m.gs = append(m.gs, g)
	}
	return g
}

// at returns the index of the first interval that ends after t, or len(g.ivs).
func (g *gor) at(t int64) int {
	return sort.Search(len(g.ivs), func(i int) bool { return g.ivs[i].to > t })
}

// ran returns the ns in which g did its own work between two moments, including time that
// other programs took from it.
func (g *gor) ran(from, to int64) int64 {
	return g.sum(from, to, func(v *iv) bool { return v.core && v.state != states.GC })
}

// onCPU returns the ns in which g was on a CPU with its own work.
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

// scope returns the name of the innermost scope at t; ok is false if there is none.
func (g *gor) scope(t int64) (name uint16, ok bool) {
	flat := g.flats()
	i := sort.Search(len(flat), func(i int) bool { return flat[i].to > t })
	if i < len(flat) && flat[i].from <= t {
		return flat[i].name, true
	}
	return 0, false
}

// scopesIn adds to times the ns in which each scope was the innermost one between two
// moments.
func (g *gor) scopesIn(from, to int64, times map[uint16]int64) {
	flat := g.flats()
	i := sort.Search(len(flat), func(i int) bool { return flat[i].to > from })
	for ; i < len(flat) && flat[i].from < to; i++ {
		times[flat[i].name] += min(flat[i].to, to) - max(flat[i].from, from)
	}
}
