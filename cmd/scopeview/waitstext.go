package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
)

// text writes the tables for people.
func (r *waitsReport) text(w io.Writer, s styles) error {
	var b bytes.Buffer
	if err := health(&b, r.t, s); err != nil {
		return err
	}
	if line := r.threshold(); line != "" && len(r.objects) > 0 {
		b.WriteString(line + "\n")
		if !r.t.Closed() {
			b.WriteString("counts are told once per heartbeat; the recording was not stopped, so the last of them are missing\n")
		}
		b.WriteByte('\n')
	}
	if len(r.objects) == 0 {
		b.WriteString("no waits for a scope.Mutex, scope.RWMutex, scope.Lock or scope.Retry\n")
	} else if err := r.lockTable(&b, s); err != nil {
		return err
	}
	if r.hasStates {
		if err := r.placeTable(&b, s); err != nil {
			return err
		}
	} else {
		b.WriteString("\nthere is no Go execution trace in it (scope/gotrace, scopeview join), which would tell of other locks, channels and WaitGroups\n")
	}
	for _, p := range r.problems {
		fmt.Fprintf(&b, "\n%s\n", s.yellow(harmless(p)))
	}
	if r.stacks {
		r.stackText(&b, s)
	}
	_, err := b.WriteTo(w)
	return err
}

// threshold says what of the waits was recorded.
func (r *waitsReport) threshold() string {
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

func (r *waitsReport) lockTable(w *bytes.Buffer, s styles) error {
	t := newTable("<lock", "<kind", "had", "contended", "brief", "wait total", "wait max", "waiting", "holds", "hold total", "hold max", "held now", "tries", "<holders", "<waiters")
	shown := r.shown(len(r.objects))
	titles := r.titles()
	var own []string
	for i, o := range r.objects[:shown] {
		held, estimated, ok := o.Held()
		hold := humane(held)
		switch {
		case !ok && held == 0:
			hold = "?"
		case !ok:
			hold = "≥ " + hold
		case estimated:
			hold = "≈ " + hold
		}
		holds, most, tries := thousands(o.Holds.Count), longest(o.Holds), ""
		if o.Kind == format.LockRetry {
			holds, hold, most, tries = "", "", "", thousands(o.Tries)
		}
		brief, _ := o.Brief()
		t.add(titles[i], format.LockKindNames[o.Kind], counted(o.Acquired()), contended(o), some(brief), humane(o.Waited()), longest(o.Waits), still(o.Waits),
			holds, hold, most, still(o.Holds), tries, r.scopes(o.Holders()), r.scopes(o.Waiters()))
		if o.Own > 0 {
			own = append(own, fmt.Sprintf("%s: %s of a goroutine for a lock that it has itself", titles[i], plural(o.Own, "wait")))
		}
	}
	if err := t.write(w, s); err != nil {
		return err
	}
	w.WriteString(more(len(r.objects), shown, "lock"))
	for _, line := range own {
		w.WriteString(s.red(line) + "\n")
	}
	return nil
}

// titles are the locks' names; those of which several have one come with their
// addresses.
func (r *waitsReport) titles() []string {
	times := map[uint16]int{}
	for _, o := range r.objects {
		times[o.Name]++
	}
	list := make([]string, len(r.objects))
	for i, o := range r.objects {
		list[i] = shorten(show(r.t.Name(o.Name)), nameWidth)
		switch {
		case times[o.Name] == 1:
		case o.Addr == 0 && o.Kind != format.LockRetry:
			list[i] += " (others)"
		default:
			list[i] += fmt.Sprintf(" %#x", o.Addr)
		}
	}
	return list
}

// longest is "-" where none has ended.
func longest(p analysis.Periods) string {
	if p.Count == 0 {
		return "-"
	}
	return humane(p.Max)
}

func counted(n int64, ok bool) string {
	if !ok {
		return "?"
	}
	return thousands(n)
}

// contended is how often a lock was not to be had at once, and which part that is.
func contended(o *analysis.Object) string {
	n, ok := o.Contended()
	text := thousands(n)
	if !ok {
		return "≥ " + text
	}
	if all, ok := o.Acquired(); ok && all > 0 && n > 0 {
		text += " (" + percent(min(float64(n)/float64(all), 1)) + ")"
	}
	return text
}

func some(n int64) string {
	if n == 0 {
		return ""
	}
	return thousands(n)
}

// scopes names the first of them.
func (r *waitsReport) scopes(list []analysis.Waiter) string {
	var texts []string
	for i, w := range list {
		if i == holdersShown {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, r.scope(w.HolderKey)+" "+percent(w.Share))
	}
	return strings.Join(texts, ", ")
}

func (r *waitsReport) scope(k analysis.HolderKey) string {
	name := shorten(show(r.t.Name(k.Name)), nameWidth)
	switch {
	case k.Unknown:
		return "(unknown)"
	case k.Kind == 0:
		return "(no scope)"
	case k.Kind == format.KindWait:
		return "waiting for " + name
	}
	return name
}

// placeTable tells of what does not tell of itself.
func (r *waitsReport) placeTable(w *bytes.Buffer, s styles) error {
	w.WriteByte('\n')
	if len(r.blocked) == 0 {
		w.WriteString("no waits for other locks, channels or WaitGroups\n")
		return nil
	}
	t := newTable("<waits for", "<where", "count", "total", "mean", "max", "<woken by")
	shown := r.shown(len(r.blocked))
	for _, b := range r.blocked[:shown] {
		var by []string
		for i, x := range b.WokenBy() {
			if i == holdersShown {
				by = append(by, "…")
				break
			}
			text := "(unknown)"
			if x.Place.Func != "" {
				text = frameText(x.Place)
			}
			by = append(by, text+" "+percent(float64(x.Time)/float64(max(b.Total, 1))))
		}
		where := "(other places)"
		if b.Place.Func != "" {
			where = frameText(b.Place)
		}
		t.add(b.State.String(), where, thousands(b.Count), humane(b.Total), humane(b.Total/max(b.Count, 1)), humane(b.Max), strings.Join(by, ", "))
	}
	if err := t.write(w, s); err != nil {
		return err
	}
	w.WriteString(more(len(r.blocked), shown, "place"))
	return nil
}

// frameText is a function as a table has room for it.
func frameText(f gotrace.Frame) string {
	return show(fmt.Sprintf("%s %s:%d", format.ShortFunction(f.Func), filepath.Base(f.File), f.Line))
}

// stacksShown is how many of a lock are shown.
const stacksShown = 3

func (r *waitsReport) stackText(w *bytes.Buffer, s styles) {
	titles := r.titles()
	for i, o := range r.objects[:r.shown(len(r.objects))] {
		list := r.stacksOf(o)
		for k, x := range list[:min(len(list), stacksShown)] {
			if k == 0 {
				fmt.Fprintf(w, "\n%s\n", s.bold(titles[i]))
			}
			fmt.Fprintf(w, "  %s in %s at\n", humane(x.ns), plural(x.count, "wait"))
			r.frames(w, x.wait)
			if x.woken != 0 {
				w.WriteString("  woken at\n")
				r.frames(w, x.woken)
			}
		}
	}
	for _, b := range r.blocked[:r.shown(len(r.blocked))] {
		if b.Stack == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n  the longest, %s, at\n", s.bold(b.State.String()+" "+frameText(b.Place)), humane(b.Max))
		r.frames(w, b.Stack)
		if by := b.WokenBy(); len(by) > 0 && by[0].Stack != 0 {
			w.WriteString("  mostly woken at\n")
			r.frames(w, by[0].Stack)
		}
	}
}

func (r *waitsReport) frames(w *bytes.Buffer, id uint32) {
	for _, f := range r.stack(id) {
		fmt.Fprintf(w, "    %s  %s:%d\n", show(f.Func), show(f.File), f.Line)
	}
}

func (r *waitsReport) shown(n int) int {
	if r.limit == 0 {
		return n
	}
	return min(n, r.limit)
}
