package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// maxTraces is the maximum number of traces reported, and of tests in each.
const maxTraces = 5

// test runs tests with the go command.
func (l *launch) test(ctx context.Context, plan *build.Plan) error {
	dir, err := l.traces("test")
	if err != nil {
		return err
	}
	if l.dir == "" {
		l.options.Cache.PruneTraces(dir) // before the run, so that the traces reported below stay
	}
	before, raws := tracesIn(dir), rawsIn(dir)
	env := append(l.variables(dir), "SCOPEVIEW_TEST=1")
	var more []string
	if l.keep {
		more = append(more, "-count=1")
	} else {
		env = append(env, "SCOPEVIEW_KEEP=failures")
	}
	cmd := plan.Command(context.WithoutCancel(ctx), build.Test, more...)
	cmd.Env = append(cmd.Env, env...)
	failed := l.goCommand(plan, cmd, 0)
	made := slices.DeleteFunc(tracesIn(dir), func(path string) bool { return slices.Contains(before, path) })
	for i, path := range made {
		fmt.Fprintf(l.s.err, "scopeview: %s\n", show.Name(path))
		if i < maxTraces {
			l.printTests(path)
			l.printSummary(ctx, path, "")
		}
	}
	l.learnAndReport(plan, made...)
	l.printAdvice(dir, raws)
	if len(made) > maxTraces {
		fmt.Fprintln(l.s.err, "scopeview: see the others with scopeview doctor TRACE")
	}
	return failed
}

// printTests prints the tests of a trace that failed, and those running at its end. printSummary reports
// unreadable traces.
func (l *launch) printTests(path string) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return
	}
	defer t.Close()
	failed, open := failedTests(t)
	for _, x := range []struct {
		what  string
		tests []string
	}{{"failed", failed}, {"not ended", open}} {
		if n := len(x.tests) - maxTraces; n > 0 {
			x.tests = append(x.tests[:maxTraces], fmt.Sprintf("and %d more", n))
		}
		if len(x.tests) > 0 {
			fmt.Fprintf(l.s.err, "scopeview: %s: %s\n", x.what, show.Text(strings.Join(x.tests, ", ")))
		}
	}
}

// failedTests lists a trace's tests that failed, and those not ended at its end, without the
// parents of tests in the lists. A test is a scope with the name of its row, which has no package
// and dot in front, as the names of functions and their goroutines have.
func failedTests(t *trace.Trace) (failed, open []string) {
	lister := args.NewLister(t.Name)
	_ = t.Events(trace.Options{Detail: trace.Tracks}, func(e *trace.Event) bool {
		if e.Kind != format.KindTask || e.Track != e.Name {
			return true
		}
		name, result := t.Name(e.Name), ""
		if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") {
			return true
		}
		for _, a := range lister.List(e) {
			switch a.Key {
			case "test": // a subtest beyond those that have their own names
				name = string(a.Value.Str)
			case "result":
				result = string(a.Value.Str)
			}
		}
		switch {
		case e.Open:
			open = append(open, name)
		case result == "fail":
			failed = append(failed, name)
		}
		return true
	}) // printSummary reports errors of the trace
	return leaves(failed), leaves(open)
}

// leaves returns the tests without those whose subtests are among them.
func leaves(tests []string) []string {
	parents := map[string]bool{}
	for _, name := range tests {
		for i, c := range name {
			if c == '/' {
				parents[name[:i]] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(tests), func(name string) bool { return parents[name] })
}
