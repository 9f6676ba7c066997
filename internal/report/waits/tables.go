package waits

import (
	"fmt"
	"strconv"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// document is the document of waits --json.
type document struct {
	report.Kept
	Threshold *threshold        `json:"threshold" says:"null: no lock recorded its waits, or all waits were recorded"`
	Locks     report.List[lock] `json:"locks"`
	States    bool              `json:"go_states" says:"there is a Go execution trace, and 'places' are from it"`
	Places    report.List[site] `json:"places"`
	Problems  []string          `json:"problems" says:"sentences: unreadable or unreliable parts"`
}

type threshold struct {
	How string `json:"how" says:"'all', 'calibrated', 'duration'"`
	NS  int64  `json:"ns" unit:"ns" says:"shorter waits are only counted"`
}

// thresholdOf returns the shortest wait that was recorded of locks that record their own waits; nil
// if there were none.
func thresholdOf(t *trace.Trace) *threshold {
	ns, err := strconv.ParseInt(t.Lookup("lock_threshold_ns"), 10, 64)
	if err != nil || ns < 0 {
		return nil
	}
	return &threshold{t.Lookup("lock_threshold"), ns}
}

type lock struct {
	Name       string          `json:"name" says:"of a lock without a name: its object as named in the source, or the place where it is locked"`
	Address    string          `json:"address" says:"hexadecimal; empty: a loop, or several locks together"`
	Kind       string          `json:"kind" says:"'lock', 'mutex', 'rwmutex', 'retry', 'once', 'waitgroup', 'cond', 'send', 'receive', 'select'"`
	Acquired   report.Int      `json:"acquired" compare:"grows" head:"had" unit:"count" says:"acquisitions"`
	Contended  report.Int      `json:"contended" compare:"grows worse" unit:"count" says:"acquisitions that had to wait"`
	Brief      int64           `json:"brief" zero:"" unit:"waits" says:"of 'contended', those shorter than the threshold"`
	BriefNS    int64           `json:"brief_ns" unit:"ns" says:"of those"`
	Waits      int64           `json:"waits" unit:"waits" says:"recorded, and ended"`
	Wait       int64           `json:"wait_ns" compare:"grows worse part" head:"waited" unit:"ns" says:"of all: recorded, brief, and not ended"`
	MaxW       int64           `json:"wait_max_ns" compare:"worse" head:"wait max" of:"waits" unit:"ns" says:"of the recorded ones"`
	OpenW      int64           `json:"waiting" unit:"waits" says:"that have not ended"`
	OpenWT     int64           `json:"waiting_ns" head:"waiting time" unit:"ns"`
	SharedW    int64           `json:"waits_shared" unit:"waits" says:"to share it with other readers"`
	OwnW       int64           `json:"waiting_for_itself" unit:"waits" says:"for a lock that the goroutine holds itself"`
	Holds      int64           `json:"holds" when:"holdable" unit:"holds" says:"recorded, and ended"`
	Hold       int64           `json:"hold_ns" head:"hold total" unit:"ns" says:"of the recorded ones that ended"`
	MaxH       int64           `json:"hold_max_ns" compare:"worse" head:"hold max" when:"holdable" of:"holds" bound:"at least" unit:"ns"`
	SinceH     bool            `json:"hold_at_least" head:"at least" says:"some holds began before their records"`
	OpenH      int64           `json:"held" head:"held now" unit:"holds" says:"that have not ended"`
	OpenHT     int64           `json:"held_ns" head:"held time" unit:"ns" says:"of those"`
	AllHold    report.Int      `json:"hold_all_ns" compare:"grows worse" head:"held" when:"holdable" unit:"ns" says:"of all holds"`
	Estimated  bool            `json:"hold_all_estimated" says:"from the mean of those that are recorded"`
	Tries      int64           `json:"tries" when:"loop" unit:"count" says:"that failed, of loops"`
	Holders    []waiter        `json:"holders" says:"the scopes of the lock's holder when a wait began or, if unknown, of a recorded holder meanwhile"`
	Waiters    []waiter        `json:"waiters" says:"the scopes of the waiters"`
	HeldBy     []report.Holder `json:"held_by" head:"held by"` // by the time of the recorded holds
	WaitStacks []at            `json:"stacks"`                 // with --stacks

	MeanW    report.Float `json:"-" head:"wait mean" unit:"ns" compare:"worse"`
	Holdable bool         `json:"-" head:"holdable"`
	Loop     bool         `json:"-" head:"loop"`

	title string // the name, with the address if several locks have the name
}

var locks = report.Table{
	Row:     lock{},
	What:    "lock",
	Compare: "wait=waited, had, contended, mean=wait mean, max=wait max, hold=held, holdmax=hold max",
	Text:    "name, kind, had, contended, brief, waited, wait max, waiting, holds, held, hold max, held now, tries, holders, waiters",
	Cells: report.CellsOf(map[string]func(lock) string{
		"name":      func(l lock) string { return l.title },
		"contended": lock.contendedCell,
		"waiting":   func(l lock) string { return report.Still(l.OpenW, l.OpenWT) },
		"held now":  func(l lock) string { return report.Still(l.OpenH, l.OpenHT) },
		"holders":   func(l lock) string { return report.First(l.Holders, waiter.shareOf) },
		"waiters":   func(l lock) string { return report.First(l.Waiters, waiter.shareOf) },
	}),
}

type waiter struct {
	Name    *string `json:"name" says:"a scope; null: none, or not known"`
	Unknown bool    `json:"unknown" says:"the holder is not known"`
	Wait    bool    `json:"wait" says:"'name' is a lock that it waited for"`
	Count   int64   `json:"count" unit:"waits"`
	NS      int64   `json:"ns" unit:"ns"`
	Share   float64 `json:"share" unit:"0 to 1" says:"of all such time"`
}

func (w waiter) shareOf() string {
	return report.HolderTitle(w.Name, w.Wait, w.Unknown) + " " + show.Percent(w.Share)
}

type site struct {
	State   string         `json:"state" head:"waits for" says:"as in 'states'"`
	At      *report.Frame  `json:"at" head:"where" says:"null: too many places"`
	Count   int64          `json:"count" compare:"grows worse" unit:"waits"`
	Total   int64          `json:"ns" head:"total" compare:"grows worse part" unit:"ns"`
	Max     int64          `json:"max_ns" compare:"worse" unit:"ns"`
	WokenBy []woken        `json:"woken_by" head:"woken by"`
	Stack   []report.Frame `json:"stack" says:"with --stacks: of the longest"`

	Mean report.Float `json:"-" head:"mean" unit:"ns" compare:"worse"`
}

var siteTable = report.Table{
	Row:     site{},
	What:    "place",
	Text:    "waits for, where, count, total, mean, max, woken by",
	Compare: "wait=total, contended=count, mean, max",
	Cells: report.CellsOf(map[string]func(site) string{
		"where": func(p site) string { return frameText(p.At, "(other places)") },
		"woken by": func(p site) string {
			return report.First(p.WokenBy, func(w woken) string {
				return frameText(w.At, "(unknown)") + " " + show.Percent(float64(w.NS)/float64(max(p.Total, 1)))
			})
		},
	}),
}

type woken struct {
	At    *report.Frame  `json:"at" says:"the place that ended the wait; null: not known"`
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

// lock returns the row of a lock.
func (r *found) lock(o *analysis.Object) lock {
	j := lock{
		Name: r.t.Name(o.Name), Kind: format.LockKindNames[o.Kind],
		Waits: o.Waits.Count, Wait: o.Waited(), MaxW: o.Waits.Max, OpenW: o.Waits.Open, OpenWT: o.Waits.OpenTime,
		SharedW: o.Shared, OwnW: o.Own, Tries: o.Tries,
		Holds: o.Holds.Count, Hold: o.Holds.Total, MaxH: o.Holds.Max, SinceH: o.Since, OpenH: o.Holds.Open, OpenHT: o.Holds.OpenTime,
		Holders: r.waiters(o.Holders()), Waiters: r.waiters(o.Waiters()), HeldBy: report.HoldersOf(r.t, o.HeldBy()), WaitStacks: []at{},
		Holdable: o.Kind.Held(), Loop: o.Kind == format.LockRetry,
	}
	if o.Addr != 0 {
		j.Address = fmt.Sprintf("%#x", o.Addr)
	}
	acquired, contended, held := o.Acquired(), o.Contended(), o.Held()
	j.Acquired, j.Contended, j.AllHold = report.Known(acquired.N, acquired.OK), report.Int{N: contended.N, Kind: report.AtLeast}, report.Known(held.N, held.OK)
	if contended.OK {
		j.Contended.Kind = report.Exact
	}
	switch j.Estimated = held.OK && held.Estimated; {
	case j.Estimated:
		j.AllHold.Kind = report.About
	case !held.OK && held.N > 0:
		j.AllHold = report.Int{N: held.N, Kind: report.AtLeast}
	}
	j.Brief, j.BriefNS = o.Brief()
	for _, x := range r.stacksOf(o) {
		j.WaitStacks = append(j.WaitStacks, at{x.count, x.ns, r.frames(x.wait), r.frames(x.woken)})
	}
	switch j.title = report.Name(j.Name); {
	case r.named[o.Name] == 1:
	case o.Addr == 0 && o.Kind != format.LockRetry:
		j.title += " (others)"
	default:
		j.title += fmt.Sprintf(" %#x", o.Addr)
	}
	return j
}

// contendedCell formats the number of acquisitions that had to wait, and their share of all.
func (l lock) contendedCell() string {
	text := l.Contended.Kind.String() + show.Count(l.Contended.N)
	if had := l.Acquired; l.Contended.Kind == report.Exact && had.Kind == report.Exact && had.N > 0 && l.Contended.N > 0 {
		text += " (" + show.Percent(min(float64(l.Contended.N)/float64(had.N), 1)) + ")"
	}
	return text
}

func (r *found) waiters(list []analysis.Waiter) []waiter {
	all := []waiter{}
	for _, w := range list {
		all = append(all, waiter{report.NameOf(r.t, w.HolderKey), w.Unknown, w.Kind == format.KindWait, w.Count, w.Time, w.Share})
	}
	return all
}

func (r *found) site(b *blocked) site {
	j := site{State: b.state.String(), At: siteOf(&b.site), Count: b.count, Total: b.total, Max: b.max, Mean: report.Known(float64(b.total)/float64(b.count), b.count > 0), WokenBy: []woken{}, Stack: []report.Frame{}}
	for _, x := range b.wokenBy {
		w := woken{siteOf(&x.site), x.count, x.time, []report.Frame{}}
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

// siteOf returns the row of a site, nil for the zero Frame.
func siteOf(f *symbols.Frame) *report.Frame {
	if f.Func == "" {
		return nil
	}
	row := report.FrameOf(f)
	return &row
}

func (r *found) frames(id uint32) []report.Frame {
	if r.stack == nil {
		return []report.Frame{}
	}
	return report.RowsOf(r.stack(id), report.FrameOf)
}

// frameText formats a function for a table, or returns none if it is not known.
func frameText(f *report.Frame, none string) string {
	if f == nil {
		return none
	}
	return show.Name(f.String())
}
