package waits

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// text writes the tables for people.
func (r *found) text(b *report.Text) {
	b.Health(r.t)
	if line := r.threshold(); line != "" && len(r.objects) > 0 {
		b.WriteString(line + "\n")
		if !r.t.Closed() {
			b.WriteString("counts are told once per heartbeat; the recording was not stopped, so the last of them are missing\n")
		}
		if n := r.t.Lookup("waits_thinned"); n != "" {
			b.WriteString("to record all of what the standard library's hooks told would have taken more than its share of the time: " + n + " waits and holds are counted, as brief ones\n")
		}
		b.WriteByte('\n')
	}
	if len(r.objects) == 0 {
		b.WriteString("no waits for a scope.Mutex, scope.RWMutex, scope.Lock or scope.Retry\n")
	} else {
		r.lockTable(b)
	}
	if r.hasStates {
		r.placeTable(b)
	} else {
		b.WriteString("\nthere is no Go execution trace in it (scope/gotrace, scopeview join), which would tell of other locks, channels and WaitGroups\n")
	}
	for _, p := range r.problems {
		fmt.Fprintf(b, "\n%s\n", b.Yellow(show.Text(p)))
	}
	if r.hasStacks {
		r.stackText(b)
	}
}

// threshold returns what of the waits was recorded.
func (r *found) threshold() string {
	ns, ok := thresholdOf(r.t)
	if !ok {
		return ""
	}
	switch how := r.t.Lookup("lock_threshold"); how {
	case "all":
		return "every wait and every hold was recorded (WithLockThreshold: all)"
	case "calibrated":
		return fmt.Sprintf("recorded: waits of %v and more (calibrated: six times what a free lock takes); shorter ones are counted", time.Duration(ns))
	}
	return fmt.Sprintf("recorded: waits of %v and more (WithLockThreshold); shorter ones are counted", time.Duration(ns))
}

func (r *found) lockTable(b *report.Text) {
	heads := []string{"<lock", "<kind", "had", "contended", "brief", "waited", "wait max", "waiting", "holds", "held", "hold max", "held now", "tries", "<holders", "<waiters"}
	titles := r.titles()
	report.Grid(b, "lock", heads, r.objects, func(o *analysis.Object) []string {
		holds, hold, most, tries := show.Count(o.Holds.Count), held(o), report.Longest(o.Holds), ""
		if o.Since && o.Holds.Count > 0 {
			most = "≥ " + most
		}
		if !o.Kind.Held() {
			holds, hold, most = "", "", ""
		}
		if o.Kind == format.LockRetry {
			tries = show.Count(o.Tries)
		}
		return []string{
			titles[o], format.LockKindNames[o.Kind], counted(o.Acquired().N, o.Acquired().OK), contended(o), some(o.Brief), show.Duration(o.Waited()), report.Longest(o.Waits), report.Still(o.Waits.Open, o.Waits.OpenTime),
			holds, hold, most, report.Still(o.Holds.Open, o.Holds.OpenTime), tries, report.First(o.Holders(), r.who), report.First(o.Waiters(), r.who),
		}
	})
	for _, o := range r.objects[:b.Shown(len(r.objects))] {
		if o.Own > 0 {
			b.WriteString(b.Red(fmt.Sprintf("%s: %s of a goroutine for a lock that it has itself", titles[o], show.Plural(o.Own, "wait"))) + "\n")
		}
	}
}

// held writes for how long a lock was held: ≈ by an estimate, ≥ at least.
func held(o *analysis.Object) string {
	all := o.Held()
	text := show.Duration(all.N)
	switch {
	case !all.OK && all.N == 0:
		return "?"
	case !all.OK:
		return "≥ " + text
	case all.Estimated:
		return "≈ " + text
	}
	return text
}

// titles returns the locks' names; those of which several have one come with their
// addresses.
func (r *found) titles() map[*analysis.Object]string {
	times := map[uint16]int{}
	for _, o := range r.objects {
		times[o.Name]++
	}
	titles := map[*analysis.Object]string{}
	for _, o := range r.objects {
		titles[o] = report.Name(r.t.Name(o.Name))
		switch {
		case times[o.Name] == 1:
		case o.Addr == 0 && o.Kind != format.LockRetry:
			titles[o] += " (others)"
		default:
			titles[o] += fmt.Sprintf(" %#x", o.Addr)
		}
	}
	return titles
}

func counted(n int64, ok bool) string {
	if !ok {
		return "?"
	}
	return show.Count(n)
}

// contended writes how often a lock was not to be had at once, and which part that is.
func contended(o *analysis.Object) string {
	times := o.Contended()
	n := times.N
	text := show.Count(n)
	if !times.OK {
		return "≥ " + text
	}
	if all := o.Acquired(); all.OK && all.N > 0 && n > 0 {
		text += " (" + show.Percent(min(float64(n)/float64(all.N), 1)) + ")"
	}
	return text
}

func some(n int64) string {
	if n == 0 {
		return ""
	}
	return show.Count(n)
}

// who names what somebody was in who had a lock, or waited for it.
func (r *found) who(w analysis.Waiter) string {
	return report.TitleOf(r.t, w.HolderKey) + " " + show.Percent(w.Share)
}

// placeTable writes what goroutines waited for beside the locks of package scope.
func (r *found) placeTable(b *report.Text) {
	b.WriteByte('\n')
	if len(r.blocked) == 0 {
		b.WriteString("no waits for other locks, channels or WaitGroups\n")
		return
	}
	report.Grid(b, "place", []string{"<waits for", "<where", "count", "total", "mean", "max", "<woken by"}, r.blocked, func(x *blocked) []string {
		by := report.First(x.wokenBy, func(w *wokenBy) string {
			return frameText(w.site, "(unknown)") + " " + show.Percent(float64(w.time)/float64(max(x.total, 1)))
		})
		return []string{
			x.state.String(), frameText(x.site, "(other places)"),
			show.Count(x.count), show.Duration(x.total), show.Duration(x.total / max(x.count, 1)), show.Duration(x.max), by,
		}
	})
}

// frameText writes a function as a table has room for it, or what is said where none is
// known.
func frameText(f gotrace.Frame, none string) string {
	if f.Func == "" {
		return none
	}
	return show.Name(fmt.Sprintf("%s %s:%d", format.ShortFunction(f.Func), filepath.Base(f.File), f.Line))
}

// stacksShown is how many of a lock are shown.
const stacksShown = 3

func (r *found) stackText(b *report.Text) {
	titles := r.titles()
	for _, o := range r.objects[:b.Shown(len(r.objects))] {
		list := r.stacksOf(o)
		for k, x := range list[:min(len(list), stacksShown)] {
			if k == 0 {
				fmt.Fprintf(b, "\n%s\n", b.Bold(titles[o]))
			}
			fmt.Fprintf(b, "  %s in %s at\n", show.Duration(x.ns), show.Plural(x.count, "wait"))
			r.stackLines(b, x.wait)
			if x.woken != 0 {
				b.WriteString("  woken at\n")
				r.stackLines(b, x.woken)
			}
		}
	}
	for _, x := range r.blocked[:b.Shown(len(r.blocked))] {
		if x.stack == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n  the longest, %s, at\n", b.Bold(x.state.String()+" "+frameText(x.site, "(other places)")), show.Duration(x.max))
		r.stackLines(b, x.stack)
		if by := x.wokenBy; len(by) > 0 && by[0].stack != 0 {
			b.WriteString("  mostly woken at\n")
			r.stackLines(b, by[0].stack)
		}
	}
}

func (r *found) stackLines(b *report.Text, id uint32) {
	for _, f := range r.stack(id) {
		fmt.Fprintf(b, "    %s  %s:%d\n", show.Name(f.Func), show.Name(f.File), f.Line)
	}
}
