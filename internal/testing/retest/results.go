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

// results has the events of go test -json by package.
type results struct {
	packages map[string]*outcome // by import path
	took     []duration          // of top-level tests
}

// duration is the duration of a test.
type duration struct {
	seconds    float64
	path, test string
}

// outcome has the results of a package's tests.
type outcome struct {
	lines       []line
	ended       map[string]string // by test, "" for the package: pass, fail or skip
	failedBuild bool
}

type line struct{ test, text string }

// read reads the events to the end, and prints each package's output when it has ended.
// Without verbose, passing packages are printed in one line.
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

// slowest prints the ten slowest tests of those that took at least a second.
func (r *results) slowest(out io.Writer) {
	slices.SortStableFunc(r.took, func(a, b duration) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, d := range r.took[:min(10, len(r.took))] {
		if d.seconds >= 1 {
			fmt.Fprintf(out, "slow %6.1f s  %s %s\n", d.seconds, d.path, d.test)
		}
	}
}

// failed returns the packages that did not pass, sorted.
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

// sure returns why a failure is not random; "": it may be.
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

// died reports whether the package's process ended before its tests did, or failed although
// they passed. Package testing prints FAIL when all have run.
func (o *outcome) died() bool {
	orderly := slices.ContainsFunc(o.lines, func(l line) bool { return l.test == "" && l.text == "FAIL\n" })
	return !orderly || len(o.failedTests()) == 0
}

// failedTests returns the failed top-level tests.
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

// passed reports whether the test, or the package if test is "", was seen to pass.
func (o *outcome) passed(test string) bool { return o.ended[test] == "pass" }

// text returns the output of the test and its subtests; if test is "", that of the package
// and of all its tests that did not pass.
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
