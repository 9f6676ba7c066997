package states

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// checks shows how reliable the states are: it compares values that can be determined in
// two ways.
type checks struct {
	Sum     check // the states of a goroutine add up to its life
	CPU     check // the time on CPUs agrees with the threads' clocks
	Unknown check // the states are known wherever the Go execution trace covers them
}

// check is one comparison.
type check struct {
	Known     bool    // whether it could be made
	OK        bool    // whether it holds
	Off       float64 // relative difference of the two, or unknown share
	Tolerance float64 // maximum of Off
	Text      string  // a sentence
}

// Tolerances of the checks.
const (
	sumTolerance     = 0.001
	cpuTolerance     = 0.02
	unknownTolerance = 0.02
)

// List returns all checks in the order in which they are shown.
func (c *checks) List() []*check { return []*check{&c.Sum, &c.CPU, &c.Unknown} }

// check makes the checks.
func (f *Facts) check(s *switches, c *clocks) {
	f.checkSum()
	f.checkCPU(s, c)
	f.checkUnknown()
}

func (c *check) judge(off float64) {
	c.Known, c.Off = true, off
	c.OK = off <= c.Tolerance
}

func (f *Facts) checkSum() {
	var worst, lives float64
	for _, g := range f.Goroutines {
		if d := g.To - g.From; d > 0 {
			off := float64(g.sum-d) / float64(d)
			worst = max(worst, off, -off)
			lives++
		}
	}
	k := &f.Checks.Sum
	k.Tolerance = sumTolerance
	if lives == 0 {
		k.Text = "no goroutine has any state"
		return
	}
	k.judge(worst)
	k.Text = fmt.Sprintf("the states of each of %s goroutines add up to its life: off by %s at most", show.Count(lives), show.Percent(worst))
}

// checkCPU compares the threads' time on CPUs, by their switches, with their CPU clocks:
// the goroutines' part of it, and that of the scheduler and the runtime's other threads.
// Time that two goroutines had at once counts twice.
func (f *Facts) checkCPU(s *switches, c *clocks) {
	k := &f.Checks.CPU
	k.Tolerance = cpuTolerance
	switch {
	case !f.Switches:
		k.Text = "the time of threads on CPUs is not known: " + f.SwitchesWhy
		return
	case c.to <= c.from || c.cpu <= 0:
		k.Text = "the time of threads on CPUs can't be compared with their clocks: the recording was cut off, or is a part of a longer one"
		return
	}
	sum := s.on + f.over
	off := max(sum-c.cpu, c.cpu-sum)
	k.Text = fmt.Sprintf("threads were on CPUs for %s by their switches, %s of it with goroutines, and %s by their clocks: off by %s",
		show.Duration(sum), show.Duration(f.used), show.Duration(c.cpu), show.Percent(float64(off)/float64(c.cpu)))
	if s.lost > c.cpu/100 {
		k.Text += fmt.Sprintf("; that can't be judged, as switches were lost for %s of the threads' time", show.Duration(s.lost))
		return
	}
	// The clocks include the switches themselves, which belong to no thread; or a
	// thread's records of a switch lie outside of what its clock counts.
	itself := s.came * perSwitch
	if sum > c.cpu {
		itself = s.came * aSwitch
	}
	much := func() bool { return float64(off) > cpuTolerance*float64(c.cpu) }
	if much() && itself > c.cpu/200 {
		k.Text += fmt.Sprintf(", of which %s switches may be %s", show.Count(s.came), show.Duration(itself))
		off = max(off-itself, 0)
	}
	if much() && sum > c.cpu && f.stolen > c.cpu/200 {
		k.Text += fmt.Sprintf(", of which the host may have taken up to %s, which switches do not show", show.Duration(f.stolen))
		off = max(off-f.stolen, 0)
	}
	k.judge(float64(off) / float64(c.cpu))
}

// perSwitch is the time of a switch between the kernel's record of one thread leaving the
// CPU and that of the next one coming, in ns: half of it is for recording.
const perSwitch = 3000

// checkUnknown checks for states that should be known and are not. Times that the Go
// execution trace does not cover, before it began or between its parts, can't be known:
// they are reported, but are no error.
func (f *Facts) checkUnknown() {
	var all int64
	for _, d := range f.Totals {
		all += d
	}
	untold, other := f.Totals[Unknown], f.Totals[Other]
	k := &f.Checks.Unknown
	k.Tolerance = unknownTolerance
	if all == 0 {
		k.Text = "the trace has no goroutine states"
		return
	}
	k.judge(float64(other) / float64(all))
	k.Text = "the states of goroutines are \"other\" for " + show.Percent(k.Off) + " of their lives"
	if share := float64(untold) / float64(all); share >= 0.00005 {
		k.Text += fmt.Sprintf("; for %s they are unknown, because the Go execution trace does not cover it", show.Percent(share))
	}
}

// clocksOf finds two moments at which the CPU time of all threads is known: those that
// the recorder of switches has recorded or, in a recording that was cut off, its first
// and last heartbeat.
func clocksOf(t *trace.Trace) (c clocks) {
	if _, _, excerpt := t.Excerpt(); excerpt || t.State().Overwritten > 0 {
		return clocks{} // there are not all switches between the two
	}
	a, cpuA, okA := clockFact(t, "thread_clock_begin")
	b, cpuB, okB := clockFact(t, "thread_clock_end")
	if okA && okB && b > a {
		return clocks{a, b, cpuB - cpuA}
	}
	beats := t.Beats()
	if len(beats) < 2 {
		return clocks{}
	}
	first, last := &beats[0], &beats[len(beats)-1]
	cpuA, okA = beatCPU(first)
	cpuB, okB = beatCPU(last)
	if okA && okB && last.Time-first.Time > int64(time.Second) {
		return clocks{first.Time, last.Time, cpuB - cpuA}
	}
	return clocks{}
}

func beatCPU(b *trace.Beat) (cpu int64, ok bool) {
	n := 0
	for _, v := range b.Values {
		if v.Field == format.FieldUser || v.Field == format.FieldSystem {
			cpu += v.Value
			n++
		}
	}
	return cpu, n == 2
}
