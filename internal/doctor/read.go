package doctor

import (
	"context"
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// loader builds the model of a trace.
type loader struct {
	t      *trace.Trace
	o      *Options
	m      *model
	ctx    context.Context
	locks  map[lockKey]*lock
	placed map[uint64][]turn // holds of unnamed locks, by address
	waited map[lockKey]bool  // unnamed locks that were waited for at a place
	notes  []string

	sampled []gotrace.Sample // kept until the goroutines are known

	last    *gor          // the last scope's
	named   [1 << 16]bool // names of scopes seen
	spans   int           // kept so far
	shorter int64         // ns: scopes that are not longer are left out
	left    int64         // number of scopes left out
}

type lockKey struct {
	addr uint64
	name uint16
}

// maxSpans bounds the scopes that are kept, 32 bytes each. Beyond it the shortest are left
// out, and their time counts for the enclosing scope.
const maxSpans = 8 << 20

func (x *loader) load() error {
	m := x.m
	x.readBeats()
	facts, err := x.readStates()
	if err != nil {
		return err
	}
	if err := x.readEvents(); err != nil {
		return err
	}
	x.holders()
	if err := x.readSums(); err != nil {
		return err
	}
	if facts != nil {
		m.roles(facts)
		x.samples()
	}
	m.finish()
	x.notes = append(x.notes, m.misused()...)
	return x.ctx.Err()
}

// readBeats reads the heartbeats just outside the range, or else the first and the last one.
func (x *loader) readBeats() {
	m := x.m
	m.beats = unknownBeats
	var first, last trace.Beat
	n := 0
	err := x.t.EachBeat(func(b *trace.Beat) bool {
		last = trace.Beat{Time: b.Time, Values: append(last.Values[:0:0], b.Values...)}
		if n == 0 || b.Time <= m.from {
			first = last
		}
		n++
		return b.Time < m.to && x.ctx.Err() == nil
	})
	if err != nil {
		x.notes = append(x.notes, "not all heartbeats could be read: "+err.Error())
	}
	if n > 0 {
		m.readCores(&last)
	}
	if n > 1 {
		m.beats = beatsBetween(&first, &last, int64(max(x.t.Header().PageSize, 4096)))
	}
}

// beatsBetween returns the differences between two heartbeats.
func beatsBetween(first, last *trace.Beat, pageSize int64) beats {
	since := func(f format.Field) int64 {
		if d := grown(first, last, f); d != nil && *d >= 0 {
			return *d
		}
		return -1
	}
	b := beats{over: last.Time - first.Time, user: since(format.FieldUser), system: since(format.FieldSystem),
		minor: since(format.FieldMinorFaults), major: max(since(format.FieldMajorFaults), 0), gcPause: max(since(format.FieldGCPauseNS), 0),
		throttled: since(format.FieldThrottled), busy: since(format.FieldMachineBusy), steal: since(format.FieldSteal), wait: -1}
	// FieldRestWait has the waits of threads that have ended since.
	if listed, rest := grown(first, last, format.FieldThreadWait), grown(first, last, format.FieldRestWait); listed != nil && rest != nil {
		b.wait = max(*listed+*rest, 0)
	}
	if rss := since(format.FieldRSS); rss > 0 && b.minor >= 0 {
		// Faults of memory that the program still has are growth, not repeated faults.
		b.minor = max(b.minor-rss/pageSize, 0)
	}
	if b.user < 0 || b.system < 0 || b.minor < 0 {
		b.over = 0
	}
	return b
}

// grown returns the change of a field, which may be negative; nil: not known.
func grown(first, last *trace.Beat, f format.Field) *int64 {
	a, okA := first.Value(f)
	b, okB := last.Value(f)
	if !okA || !okB {
		return nil
	}
	b -= a
	return &b
}

// readCores sets the number of CPUs that the program could use: the least of GOMAXPROCS, the
// CPUs that the process may use, and the cgroup's limit.
func (m *model) readCores(b *trace.Beat) {
	least := func(f format.Field, scale float64, why string) {
		if v, ok := b.Value(f); ok && v > 0 && (m.cores.Count == 0 || float64(v)*scale < m.cores.Count) {
			m.cores = Cores{float64(v) * scale, why}
		}
	}
	least(format.FieldCPUs, 1, "the CPUs that the process may use")
	least(format.FieldGOMAXPROCS, 1, "GOMAXPROCS")
	m.asked = m.cores.Count
	least(format.FieldCPULimit, 0.001, "the cgroup's limit")
	m.procs, _ = b.Value(format.FieldGOMAXPROCS)
	if milli, ok := b.Value(format.FieldCPULimit); ok {
		m.limit = float64(milli) / 1000
	}
}

// readEvents reads scopes, waits and holds. Without states the rules use scopes only for the
// waits and holds of locks: without locks, scopes are not kept.
func (x *loader) readEvents() error {
	m := x.m
	if !m.hasGo {
		if locks, err := x.o.HasLocks(x.ctx, x.t); err != nil || !locks {
			return err
		}
	}
	breaks := analysis.Breaks(x.t.Breaks())
	watch := x.o.Watch()
	o := trace.Options{From: m.from, To: m.to, AsRecorded: true, Detail: trace.Tracks}
	if m.hasGo {
		o.Detail = trace.Depths // they are looked at only with states
	}
	err := x.t.Events(o, func(e *trace.Event) bool {
		if e.Goid == 0 || breaks.Across(e) {
			return true
		}
		from, to := max(e.Start, m.from), min(e.Start+e.Dur, m.to)
		switch e.Kind {
		case format.KindTask, format.KindTaskf, format.KindProcess:
			x.scope(e, from, to)
		case format.KindWait, format.KindHold:
			if to > from {
				x.turn(e, from, to)
			}
		}
		return watch.Look(x.ctx, e.Start) == nil
	})
	if err == nil {
		err = x.ctx.Err()
	}
	if x.left > 0 {
		x.notes = append(x.notes, fmt.Sprintf("%s shorter than %s were left out to bound the memory: their contents count for the scopes around them",
			show.Plural(x.left, "scope"), show.Duration(x.shorter)))
	}
	return err
}

func (x *loader) scope(e *trace.Event, from, to int64) {
	if to-from <= x.shorter {
		if x.shorter > 0 {
			x.left++
		}
		return
	}
	if x.spans == maxSpans {
		x.thin()
	}
	m := x.m
	g := x.last
	if g == nil || g.id != e.Goid {
		g = m.g(e.Goid)
		x.last = g
	}
	s := span{from: from, to: to, cpu: -1, name: e.Name, depth: e.Depth}
	whole := from == e.Start && to == e.Start+e.Dur && !e.Open && e.Kind != format.KindProcess
	if whole && (e.Quality == format.Exact || e.Quality == format.Likely) {
		s.cpu = e.CPU
	} else if !whole {
		s.cpu = cpuNever
	}
	if e.Track != format.NameEmpty {
		g.track = x.t.Name(e.Track)
	}
	g.spans = append(g.spans, s)
	x.spans++
	if !x.named[e.Name] {
		x.named[e.Name] = true
		if name := x.t.Name(e.Name); m.ids[name] == 0 {
			m.ids[name] = e.Name
		}
	}
}

// cpuNever marks a scope that is cut off, whose CPU time can't be computed.
const cpuNever = -2

// thin drops the shorter half of the scopes, or more.
func (x *loader) thin() {
	for x.spans > maxSpans/2 {
		x.shorter = max(2*x.shorter, 500)
		x.spans = 0
		for _, g := range x.m.gs {
			kept := g.spans[:0]
			for _, s := range g.spans {
				if s.to-s.from > x.shorter {
					kept = append(kept, s)
				} else {
					x.left++
				}
			}
			g.spans = kept
			x.spans += len(kept)
		}
	}
}
