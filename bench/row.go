package main

import (
	"fmt"
	"math"
	"strings"
)

// row is one line of the table.
type row struct {
	name  string
	value quantity
	floor float64  // value as a multiple of the floor; 0: does not apply
	judge quantity // the value for goal and must; zero: no limits
	goal  float64
	must  float64
	least bool   // goal and must are lower bounds
	fault string // reason of a failure, whatever the value
	note  string
}

// quantity is a number with its unit, which determines its format.
type quantity struct {
	v    float64
	unit string
}

func (q quantity) String() string {
	switch q.unit {
	case "":
		return ""
	case "×":
		return fmt.Sprintf("%.2f×", q.v)
	case "%":
		return fmt.Sprintf("%.2f %%", q.v)
	case "ns", "B", "M/s", "µs", "MB":
		return fmt.Sprintf("%.1f %s", q.v, q.unit)
	case "allocs":
		return strings.TrimSuffix(fmt.Sprintf("%.2f", q.v), ".00")
	}
	return fmt.Sprintf("%.0f %s", q.v, q.unit)
}

// Verdicts. A row passes with all but the last two.
const (
	verdictNone = ""
	verdictGoal = "goal"
	verdictOK   = "ok"
	verdictMiss = "MISSED"
	verdictFail = "FAILED"
)

func (r row) verdict() string {
	meets := func(bound float64) bool {
		if r.least {
			return r.judge.v >= bound
		}
		return r.judge.v <= bound
	}
	switch {
	case r.fault != "":
		return verdictFail
	case r.judge.unit == "":
		return verdictNone
	case meets(r.goal):
		return verdictGoal
	case meets(r.must):
		return verdictOK
	}
	return verdictMiss
}

// ratio is a row whose time is judged as a multiple of the floor; a must of 0
// demands nothing.
func ratio(name string, ns, floor, goal, must float64) row {
	r := row{name: name, value: quantity{ns, "ns"}, floor: floor}
	if must > 0 {
		r.judge, r.goal, r.must = quantity{r.floor, "×"}, goal, must
	}
	return r
}

// over is a row judged by its time above an empty call's, in tenths of a ns, as printed: a
// third of a cycle, finer than the resolution of such loops.
func over(name string, ns, emptyNS, more, goal, must float64) row {
	return row{
		name: name, value: quantity{ns, "ns"}, note: fmt.Sprintf("an empty call takes %.1f ns", emptyNS),
		judge: quantity{math.Round(10*max(more, 0)) / 10, "ns"}, goal: goal, must: must,
	}
}

// broken is a row with a failed measurement.
func broken(name string, err error) row { return row{name: name, fault: err.Error()} }
