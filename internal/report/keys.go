package report

import (
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Kept is what each document of a trace begins with: what of the recording is there.
type Kept struct {
	Lost map[string]int64 `json:"lost"`           // total, and by reason
	Ring *Ring            `json:"ring,omitempty"` // absent: the trace is none
}

// Ring is what a ring holds. What began before whole_from_ns is there in part.
type Ring struct {
	Bytes       int64 `json:"bytes"`
	Overwritten int64 `json:"overwritten"` // records
	WholeFrom   int64 `json:"whole_from_ns"`
}

// KeptOf counts what was lost by reason, and says from when on that is not known, if
// it is not.
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
	return k
}

// Frame is a place in a program.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Inlined  bool   `json:"inlined"` // into the next frame's function
}

// Holder is what had a part of the time for which a lock was held.
type Holder struct {
	Name  *string `json:"name"` // null: no scope
	Wait  bool    `json:"wait"` // name is a lock that the holder waited for
	Time  int64   `json:"ns"`
	Share float64 `json:"share"`
}

// HoldersOf lists who had a lock.
func HoldersOf(t *trace.Trace, list []analysis.Holder) []Holder {
	all := []Holder{}
	for _, h := range list {
		all = append(all, Holder{NameOf(t, h.HolderKey), h.Kind == format.KindWait, h.Time, h.Share})
	}
	return all
}

// NameOf returns the name of what somebody was in, nil if it is none or not known.
func NameOf(t *trace.Trace, k analysis.HolderKey) *string {
	if k.Unknown || k.Kind == 0 {
		return nil
	}
	name := t.Name(k.Name)
	return &name
}

// TitleOf returns the same for people.
func TitleOf(t *trace.Trace, k analysis.HolderKey) string {
	switch {
	case k.Unknown:
		return "(unknown)"
	case k.Kind == 0:
		return "(no scope)"
	case k.Kind == format.KindWait:
		return "waiting for " + Name(t.Name(k.Name))
	}
	return Name(t.Name(k.Name))
}

// Forgotten is a name that was begun and never ended: is the second () missing?
type Forgotten struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // task, taskf, process, pending, hold
	Begun int64  `json:"begun"`
}

// ForgottenOf lists the names that never ended.
func ForgottenOf(t *trace.Trace, c *analysis.Endings) []Forgotten {
	all := []Forgotten{}
	for _, f := range c.Forgotten() {
		all = append(all, Forgotten{t.Name(f.Name), f.Kind.String(), f.Begun})
	}
	return all
}

// Longest writes the longest wait or hold that ended; "-" where none has.
func Longest(p analysis.Periods) string {
	if p.Count == 0 {
		return "-"
	}
	return show.Duration(p.Max)
}

// Still writes of waits or holds that have not ended how many they are, and for how long.
func Still(p analysis.Periods) string {
	if p.Open == 0 {
		return ""
	}
	return show.Count(p.Open) + " for " + show.Duration(p.OpenTime)
}
