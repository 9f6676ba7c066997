package profile

import (
	"cmp"
	"strconv"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// A Kind is a way to sum up or list a profile.
type Kind struct {
	By    string        // its name: function, line
	Split samples.Split // by which samples must be kept apart for it

	// Kinds with rows have frame, which returns the key of a frame, or label, which returns that of
	// the labels; title formats a key. Other kinds have of.
	frame func(program string, f *symbols.Frame) key
	label func(*samples.Labels) key
	title func(key) string
	of    func(*View) *Report
}

// The kinds.
var (
	Functions = &Kind{By: "function", title: key.name, frame: func(_ string, f *symbols.Frame) key { return key{Name: f.Func} }}
	Lines     = &Kind{By: "line", title: key.line, frame: func(_ string, f *symbols.Frame) key {
		return key{Name: f.Func, File: f.File, Line: f.Line}
	}}
	Objects = &Kind{By: "object", title: key.name, frame: func(program string, f *symbols.Frame) key {
		return key{Name: cmp.Or(f.Object, program)}
	}}
	Goroutines = &Kind{
		By: "goroutine", Split: samples.Split{Goroutine: true, Track: true}, title: numbered("none (the scheduler, the collector)"),
		label: func(l *samples.Labels) key { return key{Name: l.Track, ID: l.Goid} },
	}
	Threads = &Kind{
		By: "thread", Split: samples.Split{Thread: true}, title: numbered("not known"),
		label: func(l *samples.Labels) key { return key{ID: uint64(l.Thread)} },
	}
	Processes = &Kind{
		By: "process", Split: samples.Split{Process: true}, title: numbered("not known"),
		label: func(l *samples.Labels) key { return key{ID: uint64(l.PID)} },
	}
	Tracks = &Kind{
		By: "track", Split: samples.Split{Track: true}, title: named("(goroutines without a name)"),
		label: func(l *samples.Labels) key { return key{Name: l.Track} },
	}
	Scopes = &Kind{
		By: "scope", Split: samples.Split{Scope: true}, title: named("(no scope)"),
		label: func(l *samples.Labels) key { return key{Name: l.Scope} },
	}
	Tree    = &Kind{By: "tree", of: tree}                                          // of calls, from <Total> on
	Samples = &Kind{By: "sample", Split: samples.Split{Scope: true}, of: oneByOne} // and waits
	Metrics = &Kind{By: "metric", of: header}
)

// Kinds lists all kinds.
var Kinds = []*Kind{Functions, Lines, Objects, Goroutines, Threads, Processes, Tracks, Scopes, Tree, Samples, Metrics}

// Of returns the report of this kind for a view.
func (k *Kind) Of(v *View) *Report {
	if k.of != nil {
		return k.of(v)
	}
	return k.rows(v)
}

func (k key) name() string { return k.Name }

func (k key) line() string { return k.Name + ", " + show.Place(k.File, k.Line) }

// named returns a function that formats a name, or returns none if there is none.
func named(none string) func(key) string {
	return func(k key) string { return cmp.Or(k.Name, none) }
}

// numbered returns a function that formats a number with its name, or returns none for 0.
func numbered(none string) func(key) string {
	return func(k key) string {
		switch {
		case k.ID == 0:
			return none
		case k.Name == "":
			return strconv.FormatUint(k.ID, 10)
		}
		return strconv.FormatUint(k.ID, 10) + " " + report.Name(k.Name)
	}
}
