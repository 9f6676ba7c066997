package analysis

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
)

// Blocked is where goroutines waited, as Go's execution trace tells it: for a mutex of
// package sync, a WaitGroup, a Cond, a channel, in select.
type Blocked struct {
	State states.State
	Place gotrace.Frame // the innermost function of the program's own; the zero Frame: those beyond what is told apart
	Count int64
	Total int64 // ns, as Max
	Max   int64
	Stack uint32 // of the longest of them

	wokenBy map[gotrace.Frame]*WokenBy
}

// WokenBy is where those that waited were woken: where somebody unlocked, sent,
// received, or was done.
type WokenBy struct {
	Place gotrace.Frame // the zero Frame: not known, or not by a goroutine
	Count int64
	Time  int64  // ns of waiting that ended there
	Stack uint32 // of one of them
}

// WokenBy lists the places, the one that ended most waiting first.
func (b *Blocked) WokenBy() (list []WokenBy) {
	for _, w := range b.wokenBy {
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b WokenBy) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Place.Func, b.Place.Func), cmp.Compare(a.Place.Line, b.Place.Line))
	})
	return list
}

// Places gathers Blocked. Its memory grows with the stacks at which goroutines wait.
type Places struct {
	waits map[stackKey]*stackWaits
}

// stackKey is where somebody waited and where he was woken; woken 0: that is not known.
type stackKey struct {
	state        states.State
	stack, woken uint32
}

type stackWaits struct{ count, total, max int64 }

// NewPlaces returns empty Places.
func NewPlaces() *Places { return &Places{waits: map[stackKey]*stackWaits{}} }

// maxStacks is how many of them are kept apart.
const maxStacks = 1 << 16

// Waits tells whether an interval is one that Places is about.
func (p *Places) Waits(v *states.Interval) bool {
	switch v.State {
	case states.Lock, states.Join, states.Cond, states.Channel, states.Select:
		return v.Stack != 0
	}
	return false
}

// Add takes in an interval that Waits, of which d ns count.
func (p *Places) Add(v *states.Interval, d int64) {
	k := stackKey{state: v.State, stack: v.Stack}
	if v.By != 0 {
		k.woken = v.ByStack
	}
	if p.waits[k] == nil && len(p.waits) >= maxStacks {
		k.stack, k.woken = 0, 0
	}
	w := p.waits[k]
	if w == nil {
		w = new(stackWaits)
		p.waits[k] = w
	}
	w.count++
	w.total += d
	w.max = max(w.max, d)
}

// List lists the places, the one with the longest waits first. Waits for locks that tell
// of themselves are left out, and what the runtime and the recorder wait for; stack is
// gotrace's Info.Stack.
func (p *Places) List(stack func(uint32) []gotrace.Frame) (list []*Blocked) {
	type key struct {
		state states.State
		place gotrace.Frame
	}
	groups := map[key]*Blocked{}
	looked := looker{stack: stack, at: map[uint32]place{}}
	for k, w := range p.waits {
		at := looked.place(k.stack)
		if at.ours || !at.known && k.stack != 0 {
			continue
		}
		g := key{k.state, at.frame}
		b := groups[g]
		if b == nil {
			b = &Blocked{State: k.state, Place: at.frame, wokenBy: map[gotrace.Frame]*WokenBy{}}
			groups[g] = b
			list = append(list, b)
		}
		b.Count += w.count
		b.Total += w.total
		if w.max > b.Max || w.max == b.Max && k.stack < b.Stack {
			b.Max, b.Stack = w.max, k.stack
		}
		by := looked.place(k.woken).frame
		x := b.wokenBy[by]
		if x == nil {
			x = &WokenBy{Place: by, Stack: k.woken}
			b.wokenBy[by] = x
		}
		x.Count += w.count
		x.Time += w.total
		x.Stack = min(x.Stack, k.woken)
	}
	slices.SortFunc(list, func(a, b *Blocked) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.State, b.State),
			cmp.Compare(a.Place.Func, b.Place.Func), cmp.Compare(a.Place.Line, b.Place.Line))
	})
	return list
}

// place is what a stack tells.
type place struct {
	frame gotrace.Frame
	ours  bool // it waits for a lock that tells of itself
	known bool // frame is the program's own
}

// looker finds out what stacks tell, once each.
type looker struct {
	stack func(uint32) []gotrace.Frame
	at    map[uint32]place
}

// place tells where a stack is: its innermost function that is not of a package that
// waits for others, as sync does.
func (l *looker) place(id uint32) (at place) {
	if at, ok := l.at[id]; ok || id == 0 {
		return at
	}
	defer func() { l.at[id] = at }()
	frames := l.stack(id)
	if n := len(frames); n > 0 {
		if recorders(frames[n-1].Func) {
			return place{}
		}
		at.frame = frames[n-1] // without one of the program's, what the goroutine is
	}
	for _, f := range frames {
		switch {
		case gotrace.Functions.Lock.Has(f.Func):
			at.ours = true
		case recorders(f.Func):
			return place{}
		case !gotrace.Functions.Blocking.Has(f.Func):
			at.frame, at.known = f, true
			return at
		}
	}
	return at
}

// recorders reports whether a function is of a package that records, or of one of Go's
// that has a goroutine for it.
func recorders(f string) bool {
	return gotrace.Functions.Profilers.Has(f) || gotrace.Functions.Recorder.Has(f)
}
