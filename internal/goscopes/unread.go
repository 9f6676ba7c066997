package goscopes

import (
	"fmt"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/gowire"
)

// unread counts the parts of a Go execution trace that are missing or cannot be read. Faults that
// only its decoder finds are not included: they are reported when goroutines' states are read.
type unread struct {
	generations int
	bytes, of   int64
	cut         bool  // it is cut off
	states      int64 // ns: if so, goroutines' states can be read up to here
	long        bool  // a generation has too many bytes
}

// add counts a generation. A scope that ends after an unreadable generation may have begun in it.
func (u *unread) add(c *converter, g *gowire.Generation, s *scanned) {
	if u.generations++; g.Cut == nil {
		u.states = max(c.end-startTicks, 0)
	}
	u.bytes, u.of = u.bytes+s.bad, u.of+g.Size()
	u.cut = u.cut || g.Cut != nil && g.Cut != gowire.ErrLong
	u.long = u.long || g.Cut == gowire.ErrLong
	if s.bad > 0 || g.Cut != nil {
		c.open.lost, c.open.since = true, max(c.end, startTicks)
	}
}

// text returns a sentence for users, or "" if nothing is missing; end is the last moment that was
// read, in ns.
func (u *unread) text(end int64) string {
	var parts []string
	if u.bytes > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d bytes of the Go execution trace could not be read", u.bytes, u.of))
	}
	after := time.Duration(end).Round(time.Microsecond)
	switch {
	case u.generations == 0:
		parts = append(parts, "the Go execution trace has a header and nothing else: the program was killed, or the file is cut off")
	case u.long:
		parts = append(parts, fmt.Sprintf("the Go execution trace is read up to %v: %v", after, gowire.ErrLong))
	case u.cut:
		parts = append(parts, fmt.Sprintf("the Go execution trace ends in the middle: regions and tasks are read up to %v and what goroutines did up to %v, "+
			"as the program was killed, or the file is cut off or damaged", after, time.Duration(u.states).Round(time.Microsecond)))
	}
	return strings.Join(parts, "; ")
}
