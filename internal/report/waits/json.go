package waits

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// document is the document of waits --json. Times are integer nanoseconds. Keys may
// be added; none changes its meaning or goes away. null is unknown.
type document struct {
	report.Kept
	Threshold *threshold         `json:"threshold" says:"null: no lock told of itself, or all that did told everything"`
	Locks     report.List[lock]  `json:"locks"`
	States    bool               `json:"go_states" says:"there is a Go execution trace, and 'places' are from it"`
	Places    report.List[place] `json:"places"`
	Problems  []string           `json:"problems" says:"sentences: what could not be read, or not be believed"`
}

type threshold struct {
	How string `json:"how" says:"'all', 'calibrated', 'duration'"`
	NS  int64  `json:"ns" unit:"ns" says:"shorter waits are counted, and not recorded"`
}

type lock struct {
	Name       string          `json:"name" says:"of a lock without a name: its object as the source has it, or the place where it is locked"`
	Address    string          `json:"address" says:"hexadecimal; empty: of a loop, and of several locks together"`
	Kind       string          `json:"kind" says:"'lock', 'mutex', 'rwmutex', 'retry', 'once', 'waitgroup', 'cond', 'send', 'receive', 'select'"`
	Acquired   *int64          `json:"acquired" unit:"count" says:"how often it was acquired"`
	Contended  *int64          `json:"contended" unit:"count" says:"of 'acquired', those that were not had at once"`
	Brief      int64           `json:"brief" unit:"waits" says:"of 'contended', those shorter than the threshold"`
	BriefNS    int64           `json:"brief_ns" unit:"ns" says:"of those"`
	Waits      int64           `json:"waits" unit:"waits" says:"recorded, and ended"`
	Wait       int64           `json:"wait_ns" unit:"ns" says:"of all: recorded, brief, and not ended"`
	MaxW       int64           `json:"wait_max_ns" unit:"ns" says:"of the recorded ones"`
	OpenW      int64           `json:"waiting" unit:"waits" says:"that have not ended"`
	OpenWT     int64           `json:"waiting_ns" unit:"ns"`
	SharedW    int64           `json:"waits_shared" unit:"waits" says:"to share it with other readers"`
	OwnW       int64           `json:"waiting_for_itself" unit:"waits" says:"for what the goroutine has itself"`
	Holds      int64           `json:"holds" unit:"holds" says:"recorded, and ended"`
	Hold       int64           `json:"hold_ns" unit:"ns" says:"of the recorded ones that ended"`
	MaxH       int64           `json:"hold_max_ns" unit:"ns"`
	SinceH     bool            `json:"hold_at_least" says:"some holds began before their records"`
	OpenH      int64           `json:"held" unit:"holds" says:"that have not ended"`
	OpenHT     int64           `json:"held_ns" unit:"ns" says:"of those"`
	AllHold    *int64          `json:"hold_all_ns" unit:"ns" says:"of all holds"`
	Estimated  bool            `json:"hold_all_estimated" says:"from the mean of those that are recorded"`
	Tries      int64           `json:"tries" unit:"count" says:"that failed, of loops"`
	Holders    []waiter        `json:"holders"` // what had it when somebody began to wait
	Waiters    []waiter        `json:"waiters"`
	HeldBy     []report.Holder `json:"held_by"` // what had the time of the recorded holds
	WaitStacks []at            `json:"stacks"`  // with --stacks
}

type waiter struct {
	Name    *string `json:"name" says:"what had it when somebody began to wait, or, where that is not known, what is recorded to have had it meanwhile; null: no scope, or not known"`
	Unknown bool    `json:"unknown" says:"it is not known what"`
	Wait    bool    `json:"wait" says:"'name' is a lock that it waited for"`
	Count   int64   `json:"count" unit:"waits"`
	NS      int64   `json:"ns" unit:"ns"`
	Share   float64 `json:"share" unit:"0 to 1" says:"of all that"`
}

type place struct {
	State   string         `json:"state" says:"as in 'states'"`
	At      *report.Frame  `json:"at" says:"null: more places than are told apart"`
	Count   int64          `json:"count" unit:"waits"`
	Total   int64          `json:"ns" unit:"ns"`
	Max     int64          `json:"max_ns" unit:"ns"`
	WokenBy []woken        `json:"woken_by"`
	Stack   []report.Frame `json:"stack"` // with --stacks: of the longest
}

type woken struct {
	At    *report.Frame  `json:"at" says:"who ended the wait; null: not known"`
	Count int64          `json:"count" unit:"waits"`
	NS    int64          `json:"ns" unit:"ns"`
	Stack []report.Frame `json:"stack"` // with --stacks
}

type at struct {
	Count int64          `json:"count" unit:"waits" says:"with '--stacks': from one place"`
	NS    int64          `json:"ns" unit:"ns"`
	Stack []report.Frame `json:"stack"`
	Woken []report.Frame `json:"woken"`
}

// thresholdOf is the shortest wait, in ns, that the recorder recorded of a lock that
// tells of itself; ok is false where there was none.
func thresholdOf(t *trace.Trace) (ns int64, ok bool) {
	ns, err := strconv.ParseInt(t.Lookup("lock_threshold_ns"), 10, 64)
	return ns, err == nil && ns >= 0
}

func (r *found) document() *document {
	j := &document{
		Kept:  report.KeptOf(r.t),
		Locks: report.ListOf(r.objects, r.lock), States: r.hasStates,
		Places: report.ListOf(r.blocked, r.place), Problems: append([]string{}, r.problems...),
	}
	if ns, ok := thresholdOf(r.t); ok {
		j.Threshold = &threshold{r.t.Lookup("lock_threshold"), ns}
	}
	return j
}

func (r *found) lock(o *analysis.Object) lock {
	j := lock{
		Name: r.t.Name(o.Name), Kind: format.LockKindNames[o.Kind],
		Waits: o.Waits.Count, Wait: o.Waited(), MaxW: o.Waits.Max, OpenW: o.Waits.Open, OpenWT: o.Waits.OpenTime,
		SharedW: o.Shared, OwnW: o.Own, Tries: o.Tries,
		Holds: o.Holds.Count, Hold: o.Holds.Total, MaxH: o.Holds.Max, SinceH: o.Since, OpenH: o.Holds.Open, OpenHT: o.Holds.OpenTime,
		Holders: r.waiters(o.Holders()), Waiters: r.waiters(o.Waiters()), HeldBy: report.HoldersOf(r.t, o.HeldBy()), WaitStacks: []at{},
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
	acquired, contended, held := o.Acquired(), o.Contended(), o.Held()
	j.Acquired, j.Contended, j.AllHold = known(acquired.N, acquired.OK), known(contended.N, contended.OK), known(held.N, held.OK)
	j.Estimated = held.OK && held.Estimated
	j.Brief, j.BriefNS = o.Brief, o.BriefTime
	for _, x := range r.stacksOf(o) {
		j.WaitStacks = append(j.WaitStacks, at{x.count, x.ns, r.frames(x.wait), r.frames(x.woken)})
	}
	return j
}

func (r *found) waiters(list []analysis.Waiter) []waiter {
	all := []waiter{}
	for _, w := range list {
		all = append(all, waiter{report.NameOf(r.t, w.HolderKey), w.Unknown, w.Kind == format.KindWait, w.Count, w.Time, w.Share})
	}
	return all
}

func (r *found) place(b *blocked) place {
	j := place{State: b.state.String(), At: frameOf(b.site), Count: b.count, Total: b.total, Max: b.max, WokenBy: []woken{}, Stack: []report.Frame{}}
	for _, x := range b.wokenBy {
		w := woken{frameOf(x.site), x.count, x.time, []report.Frame{}}
		if r.hasStacks {
			w.Stack = r.frames(x.stack)
		}
		j.WokenBy = append(j.WokenBy, w)
	}
	if r.hasStacks {
		j.Stack = r.frames(b.stack)
	}
	return j
}

func frameOf(f gotrace.Frame) *report.Frame {
	if f.Func == "" {
		return nil
	}
	return &report.Frame{Function: f.Func, File: f.File, Line: uint32(f.Line)}
}

func (r *found) frames(id uint32) []report.Frame {
	list := []report.Frame{}
	if r.stack == nil {
		return list
	}
	for _, f := range r.stack(id) {
		list = append(list, *frameOf(f))
	}
	return list
}
