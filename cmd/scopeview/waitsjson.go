package main

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/trace"
)

// waitsJSON is the document of waits --json. Times are integer nanoseconds. Keys may
// be added; none changes its meaning or goes away. null is unknown.
type waitsJSON struct {
	Lost      map[string]int64    `json:"lost"`           // total, and by reason
	Ring      *ringJSON           `json:"ring,omitempty"` // absent: the trace is none
	Threshold *thresholdJSON      `json:"threshold"`      // null: no lock told of itself, or all that did tell everything
	Locks     stream[waitsOfJSON] `json:"locks"`
	States    bool                `json:"go_states"` // there is a Go execution trace, and places are from it
	Places    stream[placeJSON]   `json:"places"`
	Problems  []string            `json:"problems"`
}

type thresholdJSON struct {
	How string `json:"how"` // all, calibrated, duration
	NS  int64  `json:"ns"`  // shorter waits are counted, and not recorded
}

type waitsOfJSON struct {
	Name       string       `json:"name"`
	Address    string       `json:"address"` // "" of a loop, and of several locks together
	Kind       string       `json:"kind"`    // lock, mutex, rwmutex, retry
	Acquired   *int64       `json:"acquired"`
	Contended  *int64       `json:"contended"`
	Brief      int64        `json:"brief"` // of these, shorter than the threshold
	BriefNS    int64        `json:"brief_ns"`
	Waits      int64        `json:"waits"`   // recorded, and ended
	Wait       int64        `json:"wait_ns"` // of all: recorded, brief, and not ended
	MaxW       int64        `json:"wait_max_ns"`
	OpenW      int64        `json:"waiting"` // not ended
	OpenWT     int64        `json:"waiting_ns"`
	SharedW    int64        `json:"waits_shared"` // to share the lock with other readers
	OwnW       int64        `json:"waiting_for_itself"`
	Holds      int64        `json:"holds"` // recorded, and ended
	Hold       int64        `json:"hold_ns"`
	MaxH       int64        `json:"hold_max_ns"`
	OpenH      int64        `json:"held"` // not ended
	OpenHT     int64        `json:"held_ns"`
	AllHold    *int64       `json:"hold_all_ns"`        // of all holds
	Estimated  bool         `json:"hold_all_estimated"` // from the mean of those that are recorded
	Tries      int64        `json:"tries"`              // that failed, of loops
	Holders    []waiterJSON `json:"holders"`            // what had it when somebody began to wait
	Waiters    []waiterJSON `json:"waiters"`
	HeldBy     []holderJSON `json:"held_by"` // what had the time of the recorded holds
	WaitStacks []atJSON     `json:"stacks"`  // with --stacks
}

type waiterJSON struct {
	Name    *string `json:"name"` // null: no scope, or unknown
	Unknown bool    `json:"unknown"`
	Wait    bool    `json:"wait"` // name is a lock that it waited for
	Count   int64   `json:"count"`
	NS      int64   `json:"ns"`
	Share   float64 `json:"share"`
}

type placeJSON struct {
	State   string      `json:"state"`
	At      *frameJSON  `json:"at"` // null: more places than are told apart
	Count   int64       `json:"count"`
	Total   int64       `json:"ns"`
	Max     int64       `json:"max_ns"`
	WokenBy []wokenJSON `json:"woken_by"`
	Stack   []frameJSON `json:"stack"` // with --stacks: of the longest
}

type wokenJSON struct {
	At    *frameJSON  `json:"at"` // null: unknown
	Count int64       `json:"count"`
	NS    int64       `json:"ns"`
	Stack []frameJSON `json:"stack"` // with --stacks
}

type atJSON struct {
	Count int64       `json:"count"`
	NS    int64       `json:"ns"`
	Stack []frameJSON `json:"stack"`
	Woken []frameJSON `json:"woken"`
}

// thresholdOf is the shortest wait, in ns, that the recorder recorded of a lock that
// tells of itself; ok is false where there was none.
func thresholdOf(t *trace.Trace) (ns int64, ok bool) {
	ns, err := strconv.ParseInt(t.Lookup("lock_threshold_ns"), 10, 64)
	return ns, err == nil && ns >= 0
}

func (r *waitsReport) json() *waitsJSON {
	j := &waitsJSON{
		Lost: lostJSON(r.t), Ring: ringDocument(r.t),
		Locks: streamOf(r.objects[:r.shown(len(r.objects))], r.lockJSON), States: r.hasStates,
		Places: streamOf(r.blocked[:r.shown(len(r.blocked))], r.placeJSON), Problems: append([]string{}, r.problems...),
	}
	if ns, ok := thresholdOf(r.t); ok {
		j.Threshold = &thresholdJSON{r.t.Lookup("lock_threshold"), ns}
	}
	return j
}

func (r *waitsReport) lockJSON(o *analysis.Object) waitsOfJSON {
	j := waitsOfJSON{
		Name: r.t.Name(o.Name), Kind: format.LockKindNames[o.Kind],
		Waits: o.Waits.Count, Wait: o.Waited(), MaxW: o.Waits.Max, OpenW: o.Waits.Open, OpenWT: o.Waits.OpenTime,
		SharedW: o.Shared, OwnW: o.Own, Tries: o.Tries,
		Holds: o.Holds.Count, Hold: o.Holds.Total, MaxH: o.Holds.Max, OpenH: o.Holds.Open, OpenHT: o.Holds.OpenTime,
		Holders: r.waitersJSON(o.Holders()), Waiters: r.waitersJSON(o.Waiters()), HeldBy: []holderJSON{}, WaitStacks: []atJSON{},
	}
	if o.Addr != 0 {
		j.Address = fmt.Sprintf("%#x", o.Addr)
	}
	known := func(n int64, ok bool) *int64 {
		if !ok {
			return nil
		}
		return &n
	}
	j.Acquired, j.Contended = known(o.Acquired()), known(o.Contended())
	j.Brief, j.BriefNS = o.Brief()
	if held, estimated, ok := o.Held(); ok {
		j.AllHold, j.Estimated = &held, estimated
	}
	for _, h := range o.HeldBy() {
		j.HeldBy = append(j.HeldBy, holderJSON{Name: r.nameOf(h.HolderKey), Wait: h.Kind == format.KindWait, Time: h.Time, Share: h.Share})
	}
	for _, x := range r.stacksOf(o) {
		j.WaitStacks = append(j.WaitStacks, atJSON{x.count, x.ns, r.framesJSON(x.wait), r.framesJSON(x.woken)})
	}
	return j
}

func (r *waitsReport) waitersJSON(list []analysis.Waiter) []waiterJSON {
	all := []waiterJSON{}
	for _, w := range list {
		all = append(all, waiterJSON{r.nameOf(w.HolderKey), w.Unknown, w.Kind == format.KindWait, w.Count, w.Time, w.Share})
	}
	return all
}

func (r *waitsReport) nameOf(k analysis.HolderKey) *string {
	if k.Unknown || k.Kind == 0 {
		return nil
	}
	name := r.t.Name(k.Name)
	return &name
}

func (r *waitsReport) placeJSON(b *analysis.Blocked) placeJSON {
	j := placeJSON{State: b.State.String(), At: frameOf(b.Place), Count: b.Count, Total: b.Total, Max: b.Max, WokenBy: []wokenJSON{}, Stack: []frameJSON{}}
	for _, x := range b.WokenBy() {
		w := wokenJSON{frameOf(x.Place), x.Count, x.Time, []frameJSON{}}
		if r.stacks {
			w.Stack = r.framesJSON(x.Stack)
		}
		j.WokenBy = append(j.WokenBy, w)
	}
	if r.stacks {
		j.Stack = r.framesJSON(b.Stack)
	}
	return j
}

func frameOf(f gotrace.Frame) *frameJSON {
	if f.Func == "" {
		return nil
	}
	return &frameJSON{Function: f.Func, File: f.File, Line: uint32(f.Line)}
}

func (r *waitsReport) framesJSON(id uint32) []frameJSON {
	list := []frameJSON{}
	if r.stack == nil {
		return list
	}
	for _, f := range r.stack(id) {
		list = append(list, *frameOf(f))
	}
	return list
}
