package analysis

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// mostProcesses is the maximum number of processes listed.
const mostProcesses = 50

// processes lists the processes of a merged trace.
func (r *Report) processes(l *facts) {
	label := "processes"
	depth := map[uint32]int{}
	list := r.Trace.Processes()
	for i, p := range list {
		if i == mostProcesses {
			l.add("", fmt.Sprintf("… and %d more: info --json lists all", len(list)-i))
			break
		}
		below := ""
		if p.Parent != 0 {
			depth[p.Number] = depth[p.Parent] + 1
			below = strings.Repeat("  ", depth[p.Number]-1) + "└ "
		}
		clock := "clock exact"
		how := quiet
		if line := ClockLine(&p.Member); line != "" {
			clock, how = line, Odd
		} else if p.Error > 0 {
			clock = "clock within ±" + show.Duration(p.Error)
		}
		text := join(
			fmt.Sprintf("%s%d %s%s", below, p.Number, show.Name(p.Label), on(p.Host)),
			fmt.Sprintf("from %s for %s", show.Duration(p.From), show.Duration(p.To-p.From)), clock)
		if p.Lost > 0 {
			text += ", " + show.Count(p.Lost) + " records lost"
		}
		if p.Overwritten > 0 {
			text += ", " + show.Count(p.Overwritten) + " overwritten"
		}
		l.loud(label, text, how)
		label = ""
	}
	if what := r.info("merged"); what != "" {
		l.add("merged", what)
	}
}

func on(host string) string {
	if host == "" {
		return ""
	}
	return " on " + show.Name(host)
}

// otherClock describes Member.Apart.
const otherClock = "same boot id as another process, but another clock, by wall clocks or requests"

// ClockLine explains why the times of a merged trace's process may be wrong by more than is
// known, or than is possible; it is empty if they are exact or within the stated error.
func ClockLine(m *format.Member) string {
	switch {
	case m.Apart && m.Error < 0:
		return otherClock + "; no pair of request and response shows how far it is off"
	case m.Apart && !m.Violated:
		return otherClock + "; requests and responses align it within ±" + show.Duration(m.Error)
	case m.Error < 0:
		return "no pair of request and response shows how far its clock is off"
	case m.Violated:
		return "requests and responses contradict one another by up to " + show.Duration(m.Error) + ": a clock has jumped, or is another one, or callers did not wait"
	}
	return ""
}

// ringsOf describes what the rings of a merged trace's processes have overwritten.
func ringsOf(t *trace.Trace) string {
	var list []string
	for _, p := range t.Processes() {
		if p.Overwritten > 0 {
			list = append(list, fmt.Sprintf("%s of %s", show.Count(p.Overwritten), show.Name(p.Label)))
		}
	}
	if list == nil {
		return ""
	}
	return "older records were overwritten by the processes' rings: " + strings.Join(list, ", ")
}
