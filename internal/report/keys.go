package report

import (
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// Kept begins each document of a trace: the losses, and what a ring still holds.
type Kept struct {
	Lost    map[string]int64 `json:"lost" unit:"records" says:"'total', and by reason those that are not 0. 'unknown': for a reason that this version does not know. 'unknown_after_ns', in ns from the start: losses after that are not known, 0 also where the counters in the trace were changed from outside; absent: all losses are known"`
	Ring    *Ring            `json:"ring,omitempty" says:"absent: the trace is not a ring"`
	Excerpt *Excerpt         `json:"excerpt,omitempty" says:"absent: the trace is not an excerpt of a recording"`
}

// Excerpt describes the part of a recording that a trace has.
type Excerpt struct {
	From  int64  `json:"from_ns" unit:"ns" says:"begin of the range that the trace has, which limits every report"`
	To    int64  `json:"to_ns" unit:"ns" says:"its end"`
	Lacks string `json:"lacks,omitempty" says:"defects of the trace that it was made of, and losses that are not known"`
}

// Ring describes a ring. Of records that began before whole_from_ns, some are overwritten.
type Ring struct {
	Bytes       int64 `json:"bytes" unit:"bytes" says:"the ring's size"`
	Overwritten int64 `json:"overwritten" unit:"records" says:"that the ring has overwritten"`
	WholeFrom   int64 `json:"whole_from_ns" unit:"ns" says:"everything that began from then on is complete"`
}

// KeptOf counts the losses by reason, with the time after which they are not known, if there is
// one.
func KeptOf(t *trace.Trace) Kept {
	list, total := analysis.Losses(t)
	k := Kept{Lost: map[string]int64{"total": total}}
	if until, all := t.LossesUntil(); !all {
		k.Lost["unknown_after_ns"] = until
	} else if analysis.UnknownLosses(t) != "" {
		k.Lost["unknown_after_ns"] = t.End()
	}
	for _, l := range list {
		if l.Reason == 0 {
			k.Lost["unknown"] = l.Count
			continue
		}
		k.Lost[l.Reason.String()] = l.Count
	}
	if t.Ring() > 0 {
		o := t.Overwritten()
		k.Ring = &Ring{t.Ring(), o.Records, o.Until}
	}
	if from, to, ok := t.Excerpt(); ok {
		k.Excerpt = &Excerpt{from, to, t.Lookup(trace.FactExcerptLacks)}
	}
	return k
}

// Frame is a frame as a row of a document.
type Frame struct {
	Function string `json:"function" says:"with its package's path"`
	File     string `json:"file" says:"as the compiler was given it"`
	Line     uint32 `json:"line" unit:"line" says:"0: not known"`
	Inlined  bool   `json:"inlined" says:"into the next frame's function"`
}

// FrameOf returns the row of a frame.
func FrameOf(f *symbols.Frame) Frame {
	return Frame{Function: f.Func, File: f.File, Line: uint32(f.Line), Inlined: f.Inlined}
}

// String formats the frame as symbols.Frame does.
func (f Frame) String() string {
	return (&symbols.Frame{Func: f.Function, File: f.File, Line: int(f.Line)}).String()
}

// Holder is a scope or a wait that accounts for a part of the time for which a lock was held.
type Holder struct {
	Name  *string `json:"name" says:"the scope or lock during which it was held; null: no scope"`
	Wait  bool    `json:"wait" says:"'name' is a lock that it waited for"`
	Time  int64   `json:"ns" unit:"ns"`
	Share float64 `json:"share" unit:"0 to 1" says:"of all such time"`

	unknown bool
}

// HoldersOf lists the holders of a lock.
func HoldersOf(t *trace.Trace, list []analysis.Holder) []Holder {
	all := []Holder{}
	for _, h := range list {
		all = append(all, Holder{NameOf(t, h.HolderKey), h.Kind == format.KindWait, h.Time, h.Share, h.Unknown})
	}
	return all
}

// Title returns the holder's name for people.
func (h Holder) Title() string { return HolderTitle(h.Name, h.Wait, h.unknown) }

// NameOf returns the name of a holder, nil if it has none or the name is not known.
func NameOf(t *trace.Trace, k analysis.HolderKey) *string {
	if k.Unknown || k.Kind == 0 {
		return nil
	}
	name := t.Name(k.Name)
	return &name
}

// HolderTitle returns a holder's name for people; unknown says that it is not known.
func HolderTitle(name *string, wait, unknown bool) string {
	switch {
	case unknown:
		return "(unknown)"
	case name == nil:
		return "(no scope)"
	case wait:
		return "waiting for " + Name(*name)
	}
	return Name(*name)
}

// ShareOf returns the holder's name and its share of the time.
func (h Holder) ShareOf() string { return h.Title() + " " + show.Percent(h.Share) }

// Forgotten is a name that was begun and never ended: is the second () missing?
type Forgotten struct {
	Name  string `json:"name" says:"a name that began often and never ended: is a second '()' missing?"`
	Kind  string `json:"kind" says:"'task', 'taskf', 'process', 'pending', 'hold'"`
	Begun int64  `json:"begun" unit:"count"`
}

// ForgottenOf lists the names that never ended.
func ForgottenOf(t *trace.Trace, c *analysis.Endings) []Forgotten {
	all := []Forgotten{}
	for _, f := range c.Forgotten() {
		all = append(all, Forgotten{t.Name(f.Name), f.Kind.String(), f.Begun})
	}
	return all
}

// Still formats the number of waits or holds that have not ended, and their time so far.
func Still(n, ns int64) string {
	if n == 0 {
		return ""
	}
	return show.Count(n) + " for " + show.Duration(ns)
}
