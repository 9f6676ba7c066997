package analysis

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// StateGroup sums up the states of goroutines that have something in common, or that were in
// scopes of one name.
type StateGroup struct {
	Text  string // the name, the row's or the place; may have any bytes if By is one of the names
	Goid  uint64 // the goroutine, ByGoroutine; otherwise 0
	Rest  bool   // the group of those without one: Text is empty
	Count int64  // scopes, or goroutines
	// Total are the times in the scopes, or of the goroutines' lives, within the selected
	// range.
	Total StateTimes
	// Self is the part of Total in which no scope inside was running; by name only.
	Self StateTimes
}

// By is the key by which states are summed up.
type By string

// The keys.
const (
	ByName      By = "name"
	ByTrack     By = "track"
	BySite      By = "site"
	ByGoroutine By = "goroutine"
)

// Bys lists the keys.
var Bys = []string{string(ByName), string(ByTrack), string(BySite), string(ByGoroutine)}

// StateSums has the groups of a trace, the one with the most time first. Facts is the source
// of the states.
type StateSums struct {
	Facts  *states.Facts
	Groups []*StateGroup
}

// SumStates sums up the states of t's goroutines within the selection: by name of scope,
// row, creation site, or for each goroutine. The runtime's own goroutines, and the
// recorder's, are in no group. more is called with each event; SumStates stops early when it
// returns false.
func SumStates(t *trace.Trace, sel *Selection, by By, more func(*trace.Event) bool) (*StateSums, error) {
	x := newStateIndex()
	s := &stateSummer{t: t, sel: sel, by: by, index: x, to: sel.To, groups: map[string]*StateGroup{}}
	if s.to <= 0 {
		s.to = math.MaxInt64
	}
	watch := 0
	f, err := states.Read(t, func(v *states.Interval) {
		x.add(v)
		if watch++; watch%(1<<16) == 0 && sel.Progress != nil {
			sel.Progress(v.To)
		}
	})
	if err != nil {
		return nil, err
	}
	s.facts = f
	if by == ByName {
		err = s.names(more)
	} else {
		err = s.lives(more)
	}
	list := make([]*StateGroup, 0, len(s.groups))
	for _, g := range s.groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *StateGroup) int {
		return cmp.Or(cmp.Compare(b.Total.Sum(), a.Total.Sum()), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Goid, b.Goid))
	})
	return &StateSums{f, list}, err
}

type stateSummer struct {
	t      *trace.Trace
	sel    *Selection
	by     By
	to     int64
	facts  *states.Facts
	index  *stateIndex
	groups map[string]*StateGroup
}

// clip returns the part of a stretch that is selected and has known states.
func (s *stateSummer) clip(from, to int64) (int64, int64) {
	return max(from, s.sel.From), min(to, s.to)
}

// names sums up by the names of scopes.
func (s *stateSummer) names(more func(*trace.Event) bool) error {
	choice := s.sel.Choice(s.t)
	byName := map[uint16]*StateGroup{}
	ofSelf := map[*int64]*StateGroup{}
	stats := map[uint16]*Stats{}
	rs := rows{
		charge: func(goid uint64, r *running, from, to int64) {
			if g := ofSelf[r.self]; g != nil {
				from, to = s.clip(from, to)
				s.index.between(&g.Self, goid, from, to)
			}
		},
		held: func(*Lock, *running, int64, int64) {},
	}
	o := s.sel.Range()
	o.AsRecorded, o.Detail = true, trace.Tracks // they are not looked at
	err := s.t.Events(o, func(e *trace.Event) bool {
		switch e.Kind {
		case format.KindTask, format.KindTaskf, format.KindProcess:
		default:
			return more(e)
		}
		if e.Goid == 0 {
			return more(e)
		}
		var st *Stats
		if choice.Keep(e) {
			g := byName[e.Name]
			if g == nil {
				g = &StateGroup{Text: s.t.Name(e.Name)}
				byName[e.Name], s.groups[g.Text] = g, g
				stats[e.Name] = &Stats{}
				ofSelf[&stats[e.Name].Self] = g
			}
			st = stats[e.Name]
			g.Count++
			from, to := s.clip(e.Start, e.Start+e.Dur)
			s.index.between(&g.Total, e.Goid, from, to)
		}
		rs.nest(rs.at(e.Goid, e.Start), e, st, false)
		return more(e)
	})
	rs.finish()
	return err
}

// lives sums up the states over the goroutines' lives.
func (s *stateSummer) lives(more func(*trace.Event) bool) error {
	tracks := map[uint64]uint16{}
	o := s.sel.Range()
	o.From = 0 // a row's name may have been given earlier
	o.AsRecorded, o.Detail = true, trace.Tracks
	err := s.t.Events(o, func(e *trace.Event) bool {
		if e.Goid != 0 && e.Track != format.NameEmpty {
			tracks[e.Goid] = e.Track
		}
		return more(e)
	})
	for _, g := range s.facts.Goroutines {
		from, to := s.clip(g.From, g.To)
		track := s.t.Name(tracks[g.ID])
		if g.System || to <= from || !s.sel.Tracks.Match(track) {
			continue
		}
		group := s.group(g, track)
		group.Count++
		s.index.between(&group.Total, g.ID, from, to)
	}
	return err
}

// group returns the group of a goroutine.
func (s *stateSummer) group(g *states.Goroutine, track string) *StateGroup {
	n := StateGroup{Text: track}
	switch s.by {
	case BySite:
		n.Text = creationPlace(s.facts, g)
	case ByGoroutine:
		n.Goid = g.ID
	}
	n.Rest = n.Text == ""
	key := n.Text
	if n.Goid != 0 {
		key = "\x00" + strconv.FormatUint(n.Goid, 10)
	}
	if s.groups[key] == nil {
		s.groups[key] = &n
	}
	return s.groups[key]
}

// creationPlace describes where a goroutine was created, and the function that it began with; "" if
// it was created before the recording.
func creationPlace(f *states.Facts, g *states.Goroutine) string {
	place := firstFrame(f.Stack(g.Site))
	start := f.Stack(g.Start)
	if n := len(start); n > 0 && !gotrace.Functions.API.Has(start[n-1].Func) {
		place = strings.TrimSpace(place + " go " + format.ShortFunction(start[n-1].Func))
	}
	return place
}

// firstFrame formats the innermost frame of the program's own, not of the runtime, package
// sync or package scope; "" if there is none.
func firstFrame(frames []*symbols.Frame) string {
	for _, f := range frames {
		if !gotrace.Functions.Plumbing.Has(f.Func) {
			return f.String()
		}
	}
	return ""
}
