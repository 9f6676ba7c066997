package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// command is a go test command.
type command struct {
	flags    []string // go command with its arguments, without the packages
	packages []string
}

func parse(args []string) (command, error) {
	n := len(args)
	for n > 0 && strings.HasPrefix(args[n-1], ".") {
		n--
	}
	if n < 2 || n == len(args) || args[1] != "test" {
		return command{}, fmt.Errorf("%q is not: go test [flags] ./package...", args)
	}
	return command{flags: args[:n], packages: args[n:]}, nil
}

// run runs the packages' tests, with further flags, and prints the output of go test. It
// reports whether go test succeeded.
func (c command) run(out io.Writer, further []string, packages ...string) (*results, bool) {
	args := slices.Concat([]string{"test", "-json"}, c.flags[2:], further, packages)
	cmd := exec.Command(c.flags[0], args...)
	cmd.Stderr = os.Stderr
	r := &results{packages: map[string]*outcome{}}
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintf(out, "FAIL\t%v\n", err)
		return r, false
	}
	r.read(pipe, out, slices.Contains(c.flags, "-v"))
	return r, cmd.Wait() == nil
}

// judge runs the tests, repeats the failed ones alone, and reports whether all passed in the
// end.
func (c command) judge(out io.Writer) bool {
	first, passed := c.run(out, nil, c.packages...)
	first.slowest(out)
	if passed {
		return true
	}
	passed = true
	failures := 0
	for _, path := range first.failed() {
		o := first.packages[path]
		failures++
		if why := o.sure(); why != "" {
			fmt.Fprintf(out, "FAIL\t%s: %s, which does not run again\n", path, why)
			passed = false
			continue
		}
		tests := o.failedTests()
		if o.died() {
			tests = []string{""} // all
		}
		for _, test := range tests {
			passed = c.again(out, path, test, o) && passed
		}
	}
	return passed && failures > 0 // go test may fail without a failed test
}

// again runs one test of a package alone, or all of them if test is "", and reports whether
// it passed. It must have been seen to pass.
func (c command) again(out io.Writer, path, test string, before *outcome) bool {
	alone := []string{"-count=1", "-p=1"}
	name := path
	if test != "" {
		alone = append(alone, "-run=^"+regexp.QuoteMeta(test)+"$")
		name += " " + test
	}
	r, passed := c.run(io.Discard, alone, path)
	after, ran := r.packages[path]
	if !ran {
		after = &outcome{}
	}
	if passed = passed && after.passed(test); passed {
		fmt.Fprintf(out, "FLAKY %s: it failed beside others and passed alone\n", name)
		quote(out, "beside others", before.text(test))
	} else { // the first output is above
		fmt.Fprintf(out, "FAIL\t%s: it failed beside others and alone\n", name)
	}
	quote(out, "alone", after.text(test))
	return passed
}

// quote prints text in a form that stage of the Makefile recognises.
func quote(out io.Writer, what, text string) {
	const most = 100 // a package that died may have printed a lot; the reason is at the end
	fmt.Fprintf(out, "    | %s:\n", what)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if left := len(lines) - most; left > 0 {
		fmt.Fprintf(out, "    |   (%d lines before)\n", left)
		lines = lines[left:]
	}
	for _, l := range lines {
		fmt.Fprintf(out, "    |   %s\n", l)
	}
}
