package main

import (
	"fmt"
	"os"
	"regexp"
	"time"
)

// -base compares the hot path of another revision with that of the checkout, slice by slice
// in turn. A shared or warm machine then slows both, and each slice is compared with the
// adjacent slice of the other revision.
//
// Such pairs cannot compensate the placement of code by the linker: two builds of equal code
// can differ by some percent, for as long as they run. So every round builds both with
// another random layout and runs them as new processes, and a round's median counts as one
// observation.

// judgedRatio is the maximum ratio of a row's times that does not count as worse.
const judgedRatio = 1.03

// comparedRow is a loop of package runner in a state of the recorder.
type comparedRow struct {
	name    string
	loop    string
	perLoop int64 // records that an iteration makes
	control bool  // the same code in both
	free    bool  // not pinned to a CPU: it has goroutines of its own
}

// session is a set of rows measured in one run of the two builds.
type session struct {
	part   string
	tag    string // of the build
	record bool
	filter string
	plan   plan
	rows   []comparedRow
}

// Numbers of pairs of slices per round, and their sizes, as of the other tables.
var (
	comparedRecorded = plan{slices: 40, size: 20_000, settle: recordedPlan.settle}
	comparedIdle     = plan{slices: 60, size: 200_000}
)

var sessions = []session{
	{part: "the same code in both, recorded", record: true, plan: comparedRecorded, rows: []comparedRow{
		{name: "two readings of the clock: the floor", loop: "floor", control: true},
	}},
	{part: "a scope on the hot path", record: true, plan: comparedRecorded, rows: []comparedRow{
		{name: "Task, wall and thread CPU time", loop: "task", perLoop: 1},
		{name: "with two int arguments", loop: "ints", perLoop: 1},
		{name: "with int, string and KV", loop: "mixed", perLoop: 1},
		{name: "ended on another P", loop: "crossing", perLoop: 1},
		{name: "Task on two goroutines, each", loop: "together", perLoop: 2, free: true},
	}},
	{part: "by the Go path", tag: "scope_go", record: true, plan: comparedRecorded, rows: []comparedRow{
		{name: "Task by the Go path", loop: "task", perLoop: 1},
		{name: "with two int arguments", loop: "ints", perLoop: 1},
	}},
	{part: "not recording", plan: comparedIdle, rows: []comparedRow{
		{name: "an empty call", loop: "empty", control: true},
		{name: "stopped", loop: "task"},
		{name: "stopped, two int arguments", loop: "ints"},
		{name: "stopped, int, string and KV", loop: "mixed"},
	}},
	{part: "recording, filtered out", record: true, filter: "-f1", plan: comparedIdle, rows: []comparedRow{
		{name: "running, name filtered out", loop: "task"},
	}},
	{part: "built with -tags scope_off", tag: "scope_off", plan: comparedIdle, rows: []comparedRow{
		{name: "built with -tags scope_off", loop: "task"},
		{name: "built with -tags scope_off, two int arguments", loop: "ints"},
	}},
}

// compare measures and prints; it returns an error if a row is worse.
func (b *bench) compare(base string, match *regexp.Regexp, output string) error {
	rounds := 16
	if b.short {
		rounds = fewestRounds + 2
	}
	old, current, err := b.revisions(base)
	if err != nil {
		return err
	}
	var wanted []session
	for _, s := range sessions {
		if match.MatchString(s.part) {
			wanted = append(wanted, s)
		}
	}
	results := make([][]comparison, len(wanted))
	for i, s := range wanted {
		results[i] = make([]comparison, len(s.rows))
	}
	for round := range rounds {
		fmt.Fprintf(b.log, "round %d of %d\n", round+1, rounds)
		builds := map[string][2]string{}
		for i, s := range wanted {
			if _, ok := builds[s.tag]; !ok {
				if builds[s.tag], err = b.buildPair(old, current, s.tag, round+1); err != nil {
					return err
				}
			}
			if err := b.session(&s, builds[s.tag], results[i]); err != nil {
				return fmt.Errorf("%s: %w", s.part, err)
			}
		}
	}
	t := verdicts{machine: machine(b.dir), when: time.Now(), short: b.short, old: old.name, rounds: rounds}
	for i, s := range wanted {
		t.add(&s, results[i])
	}
	if err := t.print(os.Stdout); err != nil {
		return err
	}
	if output != "" {
		if err := saved(output, "compare-", t.when, t.machine, t.print); err != nil {
			return err
		}
	}
	if n := t.worse(); n > 0 {
		return fmt.Errorf("%d rows are worse, or could not be measured", n)
	}
	return nil
}
