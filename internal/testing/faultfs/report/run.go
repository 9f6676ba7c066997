package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action     string
	Package    string
	ImportPath string // path of a package that does not compile
	Test       string
	Output     string
	Elapsed    float64 // seconds
}

// test is one test or subtest.
type test struct {
	pkg, name string
	action    string // outcome; run: it did not end; "": it is only a prefix of a name and never ran
	parent    bool   // has subtests
	output    []string
}

// run has the results read so far.
type run struct {
	tests  map[string]*test // by package and name
	order  []*test
	failed map[string]bool // packages
	broken []string        // compiler errors, and packages that failed without a test
	said   map[string][]string
}

func newRun() *run {
	return &run{tests: map[string]*test{}, failed: map[string]bool{}, said: map[string][]string{}}
}

// read reads events until the end of in. Other lines are kept: they explain failures before
// a test ran. Ended tests are written to progress, one line each: all of them take about
// twenty minutes.
func (r *run) read(in io.Reader, progress io.Writer) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var e event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			r.broken = append(r.broken, s.Text())
			continue
		}
		r.event(&e)
		if testName.MatchString(e.Test) && !strings.Contains(e.Test, "/") {
			switch e.Action {
			case "pass", "fail", "skip":
				fmt.Fprintf(progress, "%-4s %5.0f s  %s\n", e.Action, e.Elapsed, e.Test)
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("reading the tests' output: %w", err)
	}
	return nil
}

func (r *run) event(e *event) {
	if e.Test == "" {
		switch e.Action {
		case "build-output":
			r.broken = append(r.broken, strings.TrimRight(e.Output, "\n"))
		case "output":
			r.said[e.Package] = append(r.said[e.Package], strings.TrimRight(e.Output, "\n"))
		case "fail":
			r.failed[e.Package] = true
		}
		return
	}
	t := r.test(e.Package, e.Test)
	switch e.Action {
	case "output":
		t.output = append(t.output, strings.TrimRight(e.Output, "\n"))
	case "run", "pass", "fail", "skip":
		t.action = e.Action
	}
}

func (r *run) test(pkg, name string) *test {
	key := pkg + " " + name
	t := r.tests[key]
	if t == nil {
		t = &test{pkg: pkg, name: name}
		r.tests[key] = t
		r.order = append(r.order, t)
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			r.test(pkg, name[:i]).parent = true
		}
	}
	return t
}

var (
	testName = regexp.MustCompile(`^TestG([0-9]+)(?:$|[^0-9])`)
	numbers  = regexp.MustCompile(`^\s*[A-Za-z0-9_]+\.go:[0-9]+: G([0-9]+): (.*)$`)
	reason   = regexp.MustCompile(`^\s*[A-Za-z0-9_]+\.go:[0-9]+: (.*)$`)
)

// number returns the number of the test's guarantee; 0: none.
func (t *test) number() int {
	m := testName.FindStringSubmatch(t.name)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// why returns the reason of a skipped test.
func (t *test) why() string {
	for _, line := range slices.Backward(t.output) {
		if m := reason.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return "no reason"
}

// verdict is the result of a guarantee.
type verdict struct {
	passed, failed, skipped []*test
	given, not              []string // its lines of numbers
}

func (r *run) verdicts() map[int]*verdict {
	all := map[int]*verdict{}
	of := func(n int) *verdict {
		if all[n] == nil {
			all[n] = &verdict{}
		}
		return all[n]
	}
	for _, t := range r.order {
		for _, line := range t.output {
			m := numbers.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			n, _ := strconv.Atoi(m[1])
			if text, not := strings.CutPrefix(m[2], "not given: "); not {
				of(n).not = append(of(n).not, text)
			} else {
				of(n).given = append(of(n).given, m[2])
			}
		}
		n := t.number()
		if n == 0 {
			continue
		}
		switch v := of(n); {
		case t.action == "fail" || t.action == "run":
			v.failed = append(v.failed, t)
		case t.action == "skip":
			v.skipped = append(v.skipped, t)
		case t.action == "pass" && !t.parent:
			v.passed = append(v.passed, t)
		}
	}
	return all
}
