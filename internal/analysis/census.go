package analysis

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Census counts the records of a trace.
type Census struct {
	Kinds [128]int64 // by format.Kind
	Open  [128]int64 // not ended
	Left  [128]int64 // of Open: left open by a goroutine that has ended
	CPU   [4]int64   // ended tasks by format.Quality
	Endings
}

// Endings counts the scopes that have ended, and those that have not.
type Endings struct {
	names []nameCount // by name
}

// nameCount counts the scopes of a name.
type nameCount struct {
	open, ended int64
	first       format.Kind // of the first scope that did not end
	linked      bool        // that scope has a link
	at          int64       // its start
}

// endable are the kinds that a program may forget to end. A wait is not one: many that don't
// end are a deadlock.
var endable = func() (t [128]bool) {
	for _, s := range format.Specs {
		t[s.Kind] = s.Scope && s.Kind != format.KindWait
	}
	return t
}()

// forgottenAfter is the number of open scopes of a name, none of which ended, from which a
// missing second () is suspected: a few scopes that last as long as the program are common,
// but ten at once under one name, as of a server's workers, are rare.
const forgottenAfter = 10

// Add counts one event.
func (c *Census) Add(e *trace.Event) {
	c.Kinds[e.Kind&127]++
	if e.Open {
		c.Open[e.Kind&127]++
		if e.Left {
			c.Left[e.Kind&127]++
		}
	}
	if (e.Kind == format.KindTask || e.Kind == format.KindTaskf) && !e.Open {
		c.CPU[e.Quality&3]++
	}
	c.Endings.Add(e)
}

// Add counts one event.
func (c *Endings) Add(e *trace.Event) {
	switch {
	case !endable[e.Kind&127]:
	case e.Open || int(e.Name) >= len(c.names):
		c.first(e)
	default:
		c.names[e.Name].ended++
	}
}

// first handles the rare cases of Add: an event that has not ended, or the first of a name.
func (c *Endings) first(e *trace.Event) {
	c.room(int(e.Name) + 1)
	x := &c.names[e.Name]
	if !e.Open {
		x.ended++
		return
	}
	x.open++
	if x.first == 0 || e.Start < x.at {
		x.first, x.at = e.Kind, e.Start
		_, x.linked = e.Link()
	}
}

// room makes room for n names.
func (c *Endings) room(n int) {
	if n -= len(c.names); n > 0 {
		c.names = append(c.names, make([]nameCount, n)...)
	}
}

// Ended counts the end of e, which was counted while it was open.
func (c *Census) Ended(e *trace.Event) {
	c.Open[e.Kind&127]--
	if e.Kind == format.KindTask || e.Kind == format.KindTaskf {
		c.CPU[e.Quality&3]++
	}
	if int(e.Name) < len(c.names) && e.Kind != format.KindWait {
		x := &c.names[e.Name]
		x.open, x.ended = x.open-1, x.ended+1
	}
}

// Total returns the number of all records.
func (c *Census) Total() int64 {
	var n int64
	for _, k := range c.Kinds {
		n += k
	}
	return n
}

// OpenScopes returns the number of records that have begun and not ended.
func (c *Census) OpenScopes() int64 {
	var n int64
	for _, k := range c.Open {
		n += k
	}
	return n
}

// forgotten is a name with many begun scopes of which none ended.
type forgotten struct {
	Name   uint16
	Kind   format.Kind // of the first one
	Linked bool        // the first one is part of a request
	Begun  int64
}

// Forgotten lists the names with many begun and no ended scopes, most begun
// first: `defer scope.Task("f1")` without the second pair of parentheses defers
// the begin itself and throws the end away, and go vet is silent about it.
func (c *Endings) Forgotten() []forgotten {
	var fs []forgotten
	for name, x := range c.names {
		if x.open >= forgottenAfter && x.ended == 0 {
			fs = append(fs, forgotten{uint16(name), x.first, x.linked, x.open})
		}
	}
	slices.SortStableFunc(fs, func(a, b forgotten) int { return cmp.Compare(b.Begun, a.Begun) })
	return fs
}
