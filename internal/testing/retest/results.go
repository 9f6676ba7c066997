package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// results is what go test -json told of each package.
type results struct {
	packages map[string]*outcome // by import path
	took     []duration          // of tests, not of those inside of others
}

// duration is how long a test took.
type duration struct {
	seconds    float64
	path, test string
}

// outcome is what a package's tests did.
type outcome struct {
	lines       []line
	ended       map[string]string // by test, "" is the package: pass, fail or skip
	failedBuild bool
}

type line struct{ test, text string }

// read reads the events up to their end, and prints each package's output when it has
// ended. What is not verbose tells of packages that pass in one line.
func (r *results) read(in io.Reader, out io.Writer, verbose bool) {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadString('\n')
		if text != "" {
			r.event(text, out, verbose)
		}
		if err != nil {
			return
		}
	}
}

func (r *results) event(text string, out io.Writer, verbose bool) {
	var e struct {
		Action, Package, Test, Output, FailedBuild string
		Elapsed                                    float64
	}
	if json.Unmarshal([]byte(text), &e) != nil || e.Action == "build-output" || e.Package == "" {
		if e.Action == "" { // not an event
			e.Output = text
		}
		fmt.Fprint(out, e.Output)
		return
	}
	o := r.packages[e.Package]
	if o == nil {
		o = &outcome{ended: map[string]string{}}
		r.packages[e.Package] = o
	}
	switch e.Action {
	case "output":
		o.lines = append(o.lines, line{e.Test, e.Output})
	case "pass", "fail", "skip":
		o.ended[e.Test] = e.Action
		o.failedBuild = o.failedBuild || e.FailedBuild != ""
		if e.Test != "" {
			if !strings.Contains(e.Test, "/") {
				r.took = append(r.took, duration{e.Elapsed, e.Package, e.Test})
			}
			return
		}
		lines := o.lines
		if !verbose && e.Action != "fail" && len(lines) > 0 {
			lines = lines[len(lines)-1:]
		}
		for _, l := range lines {
			fmt.Fprint(out, l.text)
		}
	}
}

// slowest prints the ten tests that took longest, of those that took a second.
func (r *results) slowest(out io.Writer) {
	slices.SortStableFunc(r.took, func(a, b duration) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, d := range r.took[:min(10, len(r.took))] {
		if d.seconds >= 1 {
			fmt.Fprintf(out, "slow %6.1f s  %s %s\n", d.seconds, d.path, d.test)
		}
	}
}

// failed returns the packages that did not pass, in order.
func (r *results) failed() []string {
	var paths []string
	for path, o := range r.packages {
		if end := o.ended[""]; end != "pass" && end != "skip" {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// sure says why a failure is no matter of luck, or nothing.
func (o *outcome) sure() string {
	if o.failedBuild {
		return "its build or go vet failed"
	}
	for _, l := range o.lines {
		if strings.Contains(l.text, "WARNING: DATA RACE") {
			return "it has a data race"
		}
	}
	return ""
}

// died reports whether the package's process ended before its tests did, or failed
// though they passed. Package testing prints FAIL when all have run.
func (o *outcome) died() bool {
	orderly := slices.ContainsFunc(o.lines, func(l line) bool { return l.test == "" && l.text == "FAIL\n" })
	return !orderly || len(o.failedTests()) == 0
}

// failedTests returns the failed tests, without those inside of others.
func (o *outcome) failedTests() []string {
	var tests []string
	for test, end := range o.ended {
		if test != "" && end == "fail" && !strings.Contains(test, "/") {
			tests = append(tests, test)
		}
	}
	slices.Sort(tests)
	return tests
}

// passed reports whether the test, or with no name the package, was seen to pass.
func (o *outcome) passed(test string) bool { return o.ended[test] == "pass" }

// text is what the test printed and what those in it did; with no name, what the
// package and all of its tests did that did not pass.
func (o *outcome) text(test string) string {
	var b strings.Builder
	for _, l := range o.lines {
		root, _, _ := strings.Cut(l.test, "/")
		if test != "" && root == test || test == "" && (root == "" || o.ended[root] != "pass" && o.ended[root] != "skip") {
			b.WriteString(l.text)
		}
	}
	return b.String()
}
