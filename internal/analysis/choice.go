package analysis

import (
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/trace"
)

// Choice selects events by globs for their names and their rows, and by conditions. An event without a
// name, or on a row without one, is matched as the empty name.
type Choice struct {
	Names, Tracks chosen
	where         *whereReader // nil: no conditions
}

// NewChoice returns the Choice of events whose name and whose row's name match; text returns
// the name of an id, as Trace.Name does.
func NewChoice(names, tracks glob.Filter, text func(id uint16) string) *Choice {
	return &Choice{Names: chosen{Filter: names, text: text}, Tracks: chosen{Filter: tracks, text: text}}
}

// Keep reports whether e is chosen.
func (c *Choice) Keep(e *trace.Event) bool {
	return c.Names.Has(e.Name) && c.Tracks.Has(e.Track) && (c.where == nil || c.where.keep(e))
}

// All reports whether all events are chosen.
func (c *Choice) All() bool { return c.Names.All() && c.Tracks.All() && c.where == nil }

// Nameless reports whether events with neither name nor row, such as heartbeats, are chosen.
func (c *Choice) Nameless() bool {
	return c.Names.Match("") && c.Tracks.Match("") && c.where == nil
}

// chosen caches the verdicts by name id.
type chosen struct {
	glob.Filter
	text    func(id uint16) string
	verdict []verdict
}

// verdict is that of one text: while a trace is being written, an id may get its name after
// the first event that has it.
type verdict struct {
	text      string
	known, in bool
}

// Has reports whether the text of an id is chosen.
func (c *chosen) Has(id uint16) bool {
	if c.All() {
		return true
	}
	for int(id) >= len(c.verdict) {
		c.verdict = append(c.verdict, verdict{})
	}
	v := &c.verdict[id]
	if text := c.text(id); !v.known || v.text != text {
		*v = verdict{text, true, c.Match(text)}
	}
	return v.in
}
