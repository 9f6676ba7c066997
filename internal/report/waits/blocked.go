package waits

import (
	"cmp"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// blocked sums up the waits at a place, from Go's execution trace: for a mutex of package sync, a
// WaitGroup, a Cond, a channel, or in select.
type blocked struct {
	state             states.State
	site              symbols.Frame // the program's innermost function; the zero Frame: all sites beyond maxStacks
	count, total, max int64         // total and max in ns
	stack             uint32        // of the longest wait
	wokenBy           []*wokenBy    // the waker that ended most waiting first

	wakers map[symbols.Frame]*wokenBy
}

// wokenBy is a place where waiting goroutines were woken, by an unlock, a send, a receive, or a
// Done.
type wokenBy struct {
	site        symbols.Frame // the zero Frame: not known, or not by a goroutine
	count, time int64         // ns of waiting that ended there
	stack       uint32        // of one of them
}

// sites sums up waits by the stacks at which goroutines wait. Its memory grows with their number.
type sites map[stackKey]*stackWaits

// stackKey is the stack of a wait and the stack that ended it; woken is 0 if that is not known.
type stackKey struct {
	state        states.State
	stack, woken uint32
}

type stackWaits struct{ count, total, max int64 }

// maxStacks bounds the stacks that are kept apart.
const maxStacks = 1 << 16

// blocks reports whether an interval is a wait that sites sums up.
func blocks(v *states.Interval) bool {
	switch v.State {
	case states.Lock, states.Join, states.Cond, states.Channel, states.Select:
		return v.Stack != 0
	}
	return false
}

// add adds a blocking interval, of which d ns count.
func (s sites) add(v *states.Interval, d int64) {
	k := stackKey{state: v.State, stack: v.Stack}
	if v.By != 0 {
		k.woken = v.ByStack
	}
	if s[k] == nil && len(s) >= maxStacks {
		k.stack, k.woken = 0, 0
	}
	w := s[k]
	if w == nil {
		w = new(stackWaits)
		s[k] = w
	}
	w.count++
	w.total += d
	w.max = max(w.max, d)
}

// list lists the sites, longest waits first. It leaves out waits for locks that record their own
// waits, and waits of the runtime and of the recorder; stack is gotrace's Info.Stack.
func (s sites) list(stack func(uint32) []*symbols.Frame) []*blocked {
	type key struct {
		state states.State
		site  symbols.Frame
	}
	groups := map[key]*blocked{}
	looked := looker{stack: stack, at: map[uint32]where{}}
	for k, w := range s {
		at := looked.where(k.stack)
		if at.ours || !at.known && k.stack != 0 {
			continue
		}
		g := key{k.state, at.frame}
		if groups[g] == nil {
			groups[g] = &blocked{state: k.state, site: at.frame, wakers: map[symbols.Frame]*wokenBy{}}
		}
		groups[g].add(k, w, looked.where(k.woken).frame)
	}
	for _, b := range groups {
		b.wokenBy = slices.SortedFunc(maps.Values(b.wakers), func(a, b *wokenBy) int {
			return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.site.Func, b.site.Func), cmp.Compare(a.site.Line, b.site.Line))
		})
	}
	return slices.SortedFunc(maps.Values(groups), func(a, b *blocked) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.state, b.state),
			cmp.Compare(a.site.Func, b.site.Func), cmp.Compare(a.site.Line, b.site.Line))
	})
}

// add adds the waits at one stack that were ended at the site by.
func (b *blocked) add(k stackKey, w *stackWaits, by symbols.Frame) {
	b.count += w.count
	b.total += w.total
	if w.max > b.max || w.max == b.max && k.stack < b.stack {
		b.max, b.stack = w.max, k.stack
	}
	x := b.wakers[by]
	if x == nil {
		x = &wokenBy{site: by, stack: k.woken}
		b.wakers[by] = x
	}
	x.count += w.count
	x.time += w.total
	x.stack = min(x.stack, k.woken)
}

// where is the place of a wait in a stack.
type where struct {
	frame symbols.Frame
	ours  bool // it waits for a lock that records its own waits
	known bool // frame is the program's own
}

// looker finds the places of stacks, once each.
type looker struct {
	stack func(uint32) []*symbols.Frame
	at    map[uint32]where
}

// where returns the place of a stack: its innermost function that is not of a package that only
// blocks its callers, such as sync.
func (l *looker) where(id uint32) (at where) {
	if at, ok := l.at[id]; ok || id == 0 {
		return at
	}
	defer func() { l.at[id] = at }()
	frames := l.stack(id)
	if n := len(frames); n > 0 {
		if recorders(frames[n-1].Func) {
			return where{}
		}
		at.frame = *frames[n-1] // without a function of the program, the goroutine's first one
	}
	for _, f := range frames {
		switch {
		case gotrace.Functions.Lock.Has(f.Func):
			at.ours = true
		case recorders(f.Func):
			return where{}
		case !gotrace.Functions.Blocking.Has(f.Func):
			at.frame, at.known = *f, true
			return at
		}
	}
	return at
}

// recorders reports whether a function belongs to a package that records, or to a package of Go
// that has a goroutine for recording.
func recorders(f string) bool {
	return gotrace.Functions.Profilers.Has(f) || gotrace.Functions.Recorder.Has(f)
}
