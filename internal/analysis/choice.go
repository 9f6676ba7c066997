package analysis

import (
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/trace"
)

// Choice tells which events the globs for names and for rows choose. An event
// without a name, or on a row without one, is matched as the empty name.
type Choice struct {
	names, tracks chosen
}

// NewChoice returns the Choice of events whose name and whose row's name match;
// text is a Trace's Name.
func NewChoice(names, tracks glob.Filter, text func(id uint16) string) *Choice {
	return &Choice{chosen{filter: names, text: text}, chosen{filter: tracks, text: text}}
}

// Keep tells whether e is chosen.
func (c *Choice) Keep(e *trace.Event) bool {
	return c.names.has(e.Name) && c.tracks.has(e.Track)
}

// Name tells whether a name alone is chosen.
func (c *Choice) Name(id uint16) bool { return c.names.has(id) }

// Function tells whether a function is, that stands for a name.
func (c *Choice) Function(name string) bool { return c.names.filter.Match(name) }

// Track tells whether a row is chosen by its name, and AllTracks whether all are.
func (c *Choice) Track(id uint16) bool { return c.tracks.has(id) }
func (c *Choice) AllTracks() bool      { return c.tracks.filter.All() }

// nameless tells whether what has neither name nor row, a heartbeat, is chosen.
func (c *Choice) nameless() bool {
	return c.names.filter.Match("") && c.tracks.filter.Match("")
}

// chosen remembers the verdicts by name id.
type chosen struct {
	filter  glob.Filter
	text    func(id uint16) string
	verdict []verdict
}

// verdict is of one text: while a trace is written, an id may get its name after
// the first event that has it.
type verdict struct {
	text      string
	known, in bool
}

func (c *chosen) has(id uint16) bool {
	if c.filter.All() {
		return true
	}
	for int(id) >= len(c.verdict) {
		c.verdict = append(c.verdict, verdict{})
	}
	v := &c.verdict[id]
	if text := c.text(id); !v.known || v.text != text {
		*v = verdict{text, true, c.filter.Match(text)}
	}
	return v.in
}
