package analysis

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/show"
)

// scheduler describes the available data on Go's scheduler and on threads, and why there is
// no more; it adds nothing if none was requested.
func (r *Report) scheduler(l *facts) {
	r.goTrace(l)
	r.taken(l, "CPU profile", "samples, in the Go execution trace"+prefix(", but none of ", r.info("gotrace_profile_lacks")), "gotrace_profile")
	r.counters(l)
	r.taken(l, "heap profile", "what was allocated and is in use; see scopeview profile -m i.alloc-bytes:i.inuse-bytes", "gotrace_heap")
	if lost := r.info("thread_switches_lost"); lost != "" && lost != "0" {
		l.loud("threads", "when they were on a CPU, but for "+lost+" records that the system lost", Odd)
		return
	}
	what := "when they were on a CPU"
	if paused := r.info("thread_switches_paused"); paused != "" {
		what += ", but not " + show.Name(paused) + ": the system's records of it exceed their share of the budget"
	}
	r.taken(l, "threads", what, "thread_switches")
}

// counters lists the counters that took samples, and why others did not.
func (r *Report) counters(l *facts) {
	label := "counters"
	for _, i := range r.Trace.Info {
		if name, ok := strings.CutPrefix(i.Key, "counter_"); ok && i.Value == r.Trace.Lookup(i.Key) {
			l.add(label, show.Name(name)+" "+show.Name(i.Value))
			label = ""
		}
	}
}

func (r *Report) goTrace(l *facts) {
	all := r.Trace.GoTraces()
	if len(all) == 0 {
		r.taken(l, "Go trace", "on, but the trace has none of it", "gotrace")
		return
	}
	bytes, how := int64(0), quiet
	for _, g := range all {
		bytes += g.Size
		if g.Missing {
			how = Odd
		}
	}
	text := show.Size(bytes) + " of Go's execution trace"
	if len(all) > 1 {
		text += ", in " + show.Count(int64(len(all))) + " parts"
	}
	text = join(text, prefix("joined from ", r.info(gotrace.FactJoined)))
	if how == Odd {
		text += ", partly missing"
	}
	if why, off := strings.CutPrefix(r.info("gotrace"), "off"); off {
		text += "; then none" + why
	}
	l.loud("Go trace", text+"; see scopeview states", how)
	r.goStory(l)
}

// goStory describes the readable part of the Go execution trace.
func (r *Report) goStory(l *facts) {
	if g := r.Go; g != nil {
		if len(g.Stretches) > 0 {
			text := "from " + show.Duration(g.From) + " to " + show.Duration(g.To)
			if n := len(g.Stretches) - 1; n > 0 {
				text += ", with " + show.Plural(int64(n), "gap")
			}
			l.add("", text+": "+show.Plural(g.Transitions, "change")+" of goroutines' states, "+show.Plural(g.Samples, "sample"))
		}
		for i, p := range g.Problems {
			if i == 5 {
				l.loud("", fmt.Sprintf("… and %d more problems", len(g.Problems)-i), Odd)
				break
			}
			l.loud("", show.Name(p), Odd)
		}
	}
	if ended := r.info(gotrace.FactEnded); ended != "" {
		l.loud("", "it ended "+ended, Odd)
	}
}

// taken reports that a recording has something, or why not: its fact is "on", or "off: " and
// the reason.
func (r *Report) taken(l *facts, label, what, key string) {
	fact := r.info(key)
	if why, off := strings.CutPrefix(fact, "off"); off {
		l.add(label, "none"+why)
	} else if fact != "" {
		l.add(label, what)
	}
}
