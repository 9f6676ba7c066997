// Package waits reports which locks of a trace were waited for, by whom, and their holders
// meanwhile; and, from a Go execution trace, what else goroutines waited for.
package waits

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// found is the content of the waits report.
type found struct {
	t         *trace.Trace
	locks     []*analysis.Object // a row, by lock, is several times as large
	named     [1 << 16]uint8     // by name: the number of its locks, 2 for more
	hasStacks bool               // also report where goroutines waited, and where they were woken

	// From the Go execution trace, if there is one:
	hasStates bool
	listed    []site
	problems  []string
	stack     func(uint32) []*symbols.Frame
	at        map[*analysis.Object]map[lockStack]*lockTime // with stacks
}

// lockStack is the stack of a wait for a lock, and the stack that ended it; 0: not known.
type lockStack struct{ wait, woken uint32 }

type lockTime struct {
	lockStack
	count, ns int64
}

// maxLockStacks bounds the stacks of a lock that are kept apart.
const maxLockStacks = 256

// Of reads the selected part of a trace; with stacks, also where goroutines waited, and where they
// were woken.
func Of(ctx context.Context, t *trace.Trace, sel *analysis.Selection, stacks bool) (*report.Report, error) {
	r, err := read(ctx, t, sel, stacks)
	if err != nil {
		return nil, err
	}
	return &report.Report{Text: r.text, Document: &document{
		Kept: report.KeptOf(t), Threshold: thresholdOf(t), Locks: report.ListOf(r.locks, r.lock),
		States: r.hasStates, Places: report.All(r.listed), Problems: append([]string{}, r.problems...),
	}}, nil
}

// read sums up the waits in the selected part of a trace.
func read(ctx context.Context, t *trace.Trace, sel *analysis.Selection, stacks bool) (*found, error) {
	r := &found{t: t, hasStacks: stacks, at: map[*analysis.Object]map[lockStack]*lockTime{}}
	choice := sel.Choice(t)
	w := analysis.NewWaits(analysis.SummaryOptions{Keep: choice.Keep, Breaks: t.Breaks(), From: sel.From, To: sel.To}, t.Lookup("lock_threshold") == "all")
	if choice.Tracks.All() { // otherwise the rows of the sums are not known
		err := t.EachLockSums(func(l *format.LockSums) bool {
			if at := t.Nanos(l.Ticks); choice.Names.Has(l.Name) && at >= sel.From && (sel.To == 0 || at <= sel.To) {
				w.AddSums(l)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	x := &reading{found: r, w: w, choice: choice, sel: sel, watch: sel.Watch(), ctx: ctx, tracks: map[uint64]uint16{}}
	if err := cmp.Or(x.read(), ctx.Err()); err != nil {
		return nil, err
	}
	r.locks = w.Objects()
	for _, o := range r.locks {
		r.named[o.Name] = min(r.named[o.Name]+1, 2)
	}
	return r, nil
}

// reading merges events and Go states by time.
type reading struct {
	*found
	w      *analysis.Waits
	sites  sites
	choice *analysis.Choice
	sel    *analysis.Selection
	watch  *analysis.Watch
	ctx    context.Context
	tracks map[uint64]uint16 // of goroutines, if rows are selected
}

func (x *reading) read() error {
	o := x.sel.Range()
	o.AsRecorded, o.Detail = true, trace.Tracks // neither CPU times nor the ends of scopes are used
	if len(x.t.GoTraces()) == 0 {
		if locks, err := x.sel.HasLocks(x.ctx, x.t); err != nil || !locks {
			return err // scopes are read only as the surroundings of waits and holds
		}
		return x.t.Events(o, x.add)
	}
	var failed error
	next, stop := iter.Pull(func(yield func(*trace.Event) bool) { failed = x.t.Events(o, yield) })
	defer stop()
	e, more := next()
	upTo := func(ns int64) {
		for more && e.Start <= ns {
			if more = x.add(e); more {
				e, more = next()
			}
		}
	}
	x.sites = sites{}
	f, err := states.Read(x.t, func(v *states.Interval) {
		if blocks(v) && x.ctx.Err() == nil {
			upTo(v.To)
			x.interval(v)
		}
	})
	upTo(math.MaxInt64)
	if err == nil {
		err = failed
	}
	if errors.Is(err, gotrace.ErrNone) {
		return failed
	}
	if err != nil {
		return err
	}
	x.hasStates, x.stack, x.problems = true, f.Stack, f.Problems
	for _, b := range x.sites.list(f.Stack) {
		if b.site.Func == "" && x.choice.Names.Match("") || x.choice.Names.Match(b.site.Func) {
			x.listed = append(x.listed, x.site(b))
		}
	}
	return nil
}

// add adds an event.
func (x *reading) add(e *trace.Event) bool {
	x.w.Add(e)
	if !x.choice.Tracks.All() && e.Goid != 0 {
		x.tracks[e.Goid] = e.Track
	}
	return x.watch.Look(x.ctx, e.Start) == nil
}

// interval adds a goroutine's wait.
func (x *reading) interval(v *states.Interval) {
	to := v.To
	if x.sel.To > 0 {
		to = min(to, x.sel.To)
	}
	d := to - max(v.From, x.sel.From)
	if d <= 0 || !x.choice.Tracks.All() && !x.choice.Tracks.Has(x.tracks[v.Goid]) {
		return
	}
	x.sites.add(v, d)
	if !x.hasStacks || v.State != states.Lock {
		return
	}
	last, ok := x.w.Last(v.Goid)
	if !ok || last.From > v.To || last.To < v.From {
		return
	}
	where := x.at[last.Object]
	if where == nil {
		where = map[lockStack]*lockTime{}
		x.at[last.Object] = where
	}
	k := lockStack{v.Stack, v.ByStack}
	if where[k] == nil {
		if len(where) >= maxLockStacks {
			return
		}
		where[k] = &lockTime{lockStack: k}
	}
	where[k].count++
	where[k].ns += d
}

// stacksOf lists the stacks of the waits for a lock, longest first.
func (r *found) stacksOf(o *analysis.Object) []*lockTime {
	return slices.SortedFunc(maps.Values(r.at[o]), func(a, b *lockTime) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.wait, b.wait), cmp.Compare(a.woken, b.woken))
	})
}
