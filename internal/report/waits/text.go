package waits

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// text writes the tables for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	if line := r.threshold(); line != "" && len(r.locks) > 0 {
		b.WriteString(line + "\n")
		if !r.t.Closed() {
			b.WriteString("counts are written once per heartbeat; the recording was not stopped, so the last ones are missing\n")
		}
		if n := r.t.Lookup("waits_thinned"); n != "" {
			b.WriteString(n + " waits and holds of the standard library's hooks were only counted, as brief ones: recording them would have exceeded the budget\n")
		}
		b.WriteByte('\n')
	}
	if len(r.locks) == 0 {
		b.WriteString("no waits for a scope.Mutex, scope.RWMutex, scope.Lock or scope.Retry\n")
	} else {
		r.lockTable(b)
	}
	if r.hasStates {
		r.writeSites(b)
	} else {
		b.WriteString("\nno Go execution trace (scope/gotrace, scopeview join): waits for other locks, channels and WaitGroups are not known\n")
	}
	for _, p := range r.problems {
		fmt.Fprintf(b, "\n%s\n", b.Yellow(show.Text(p)))
	}
	if r.hasStacks {
		r.stackText(b)
	}
}

// threshold describes which waits were recorded.
func (r *found) threshold() string {
	switch t := thresholdOf(r.t); {
	case t == nil:
		return ""
	case t.How == "all":
		return "every wait and every hold was recorded (WithLockThreshold: all)"
	case t.How == "calibrated":
		return fmt.Sprintf("recorded: waits of %v and more (calibrated: six times the cost of a free lock); shorter ones are counted", time.Duration(t.NS))
	default:
		return fmt.Sprintf("recorded: waits of %v and more (WithLockThreshold); shorter ones are counted", time.Duration(t.NS))
	}
}

func (r *found) lockTable(b *report.Text) {
	report.WriteRows(&locks, b, r.locks, r.lock)
	for _, o := range r.locks[:b.Shown(len(r.locks))] {
		l := r.lock(o)
		if l.OwnW > 0 {
			b.WriteString(b.Red(fmt.Sprintf("%s: %s of a goroutine for a lock that it holds itself", l.title, show.Plural(l.OwnW, "wait"))) + "\n")
		}
	}
}

// writeSites writes the waits for anything except locks of package scope.
func (r *found) writeSites(b *report.Text) {
	b.WriteByte('\n')
	if len(r.listed) == 0 {
		b.WriteString("no waits for other locks, channels or WaitGroups\n")
		return
	}
	siteTable.Write(b, r.listed)
}

// stacksShown is the number of stacks shown for a lock.
const stacksShown = 3

func (r *found) stackText(b *report.Text) {
	for _, o := range r.locks[:b.Shown(len(r.locks))] {
		l := r.lock(o)
		for k, x := range l.WaitStacks[:min(len(l.WaitStacks), stacksShown)] {
			if k == 0 {
				fmt.Fprintf(b, "\n%s\n", b.Bold(l.title))
			}
			fmt.Fprintf(b, "  %s in %s at\n", show.Duration(x.NS), show.Plural(x.Count, "wait"))
			stackLines(b, x.Stack)
			if len(x.Woken) > 0 {
				b.WriteString("  woken at\n")
				stackLines(b, x.Woken)
			}
		}
	}
	for _, p := range r.listed[:b.Shown(len(r.listed))] {
		if len(p.Stack) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n  the longest, %s, at\n", b.Bold(p.State+" "+frameText(p.At, "(other places)")), show.Duration(p.Max))
		stackLines(b, p.Stack)
		if by := p.WokenBy; len(by) > 0 && len(by[0].Stack) > 0 {
			b.WriteString("  mostly woken at\n")
			stackLines(b, by[0].Stack)
		}
	}
}

func stackLines(b *report.Text, stack []report.Frame) {
	for _, f := range stack {
		fmt.Fprintf(b, "    %s  %s:%d\n", show.Name(f.Function), show.Name(f.File), f.Line)
	}
}
