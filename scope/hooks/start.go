//go:build !scope_off

package hooks

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/fromenv"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// defaultBudget is the share of CPU time that recording may take unless the environment sets
// another.
const defaultBudget = 0.03

// keepAll and keepFailures are the valid values of SCOPEVIEW_KEEP.
const (
	keepAll      = ""
	keepFailures = "failures"
)

// kept is the value of SCOPEVIEW_KEEP.
var kept string

// start begins the recording that the environment asks for. The budget, and whether to propagate,
// also apply to a recording that the program starts itself.
func start() error {
	share, err := budget(os.Getenv("SCOPEVIEW_BUDGET"))
	record.Instrument(share)
	propagating = os.Getenv("SCOPEVIEW_PROPAGATE") == "1"
	if os.Getenv("SCOPEVIEW") == "" || os.Getenv("SCOPEVIEW_TEST") != "" && !begunByGo(os.Args) {
		return nil
	}
	if err != nil {
		return err
	}
	switch kept = os.Getenv("SCOPEVIEW_KEEP"); kept {
	case keepAll, keepFailures:
	default:
		return fmt.Errorf("SCOPEVIEW_KEEP=%s: write failures, or leave it out", kept)
	}
	if to := os.Getenv("SCOPEVIEW_PROPAGATE"); to != "" && to != "0" && to != "1" {
		return fmt.Errorf("SCOPEVIEW_PROPAGATE=%s: write 0 or 1", to)
	}
	more := []scope.Option{(*record.Options).GiveWay}
	switch states := os.Getenv("SCOPEVIEW_STATES"); states {
	case "", "1":
		more = append(more, gotrace.With())
	case "0":
	default:
		return fmt.Errorf("SCOPEVIEW_STATES=%s: write 0 or 1", states)
	}
	before, thread, known := sys.ThreadCPU()
	_, err = fromenv.Start(more...)
	if now, same, ok := sys.ThreadCPU(); known && ok && same == thread {
		record.Began(now - before)
	}
	return err
}

// begunByGo reports whether go test has started this process, given its arguments. A test that
// starts itself again lacks go test's first flag, and a fuzz worker has an additional one.
func begunByGo(args []string) bool {
	return slices.Contains(args, "-test.paniconexit0") && !slices.Contains(args, "-test.fuzzworker")
}

// budget parses a share of CPU time, in percent. On an error it returns the default too.
func budget(s string) (share float64, err error) {
	if s == "" {
		return defaultBudget, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !(n > 0 && n <= 100) {
		return defaultBudget, fmt.Errorf("SCOPEVIEW_BUDGET=%s: write a share of the CPU time from above 0%% to 100%%, as 3%%", s)
	}
	return n / 100, nil
}

// countingEnds ends the counting for advice; nil if the program does not count.
var countingEnds func() error

// counting starts counting for advice if the environment asks for it. Only the file that a build
// with --advise adds calls it, so other programs do not contain that code.
func counting(begin func(trace string, asleep func() bool) error, end func() error) {
	if err := begin(record.Path(), func() bool { return isAsleep != nil && isAsleep() }); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview: not counting for advice: %v\n", err)
		return
	}
	countingEnds = end
}
