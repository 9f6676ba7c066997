//go:build !scope_off

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The promises for the shapes, each with its knob and its twin: a pair.
const (
	rightPairs = 0.9  // of the pairs are right, at least
	promise    = 2.0  // maximum estimated gain, as a multiple of the measured one
	unpromised = 0.25 // share of the time that scale must find if a verdict has no gain
	brings     = 0.05 // of the time, that mending saves at least where something has to be found
	differ     = 0.1  // of the time, that the two least of several runs may differ
	runs       = 3    // of each, at least
	patient    = 7    // and at most; and how often it is tried again while others have the CPUs
)

// pair is a line of the table of shapes.
type pair struct {
	shape
	knob
	bad, mended float64 // seconds, not recorded
	first       finding // at the strength
	twin        finding // the first, mended
	wrong       []string
	skip        string // why it is not judged
}

// measured is the measured gain of mending.
func (p *pair) measured() float64 { return 1 - p.mended/p.bad }

func (p *pair) setting(mended bool) setting {
	return setting{strength: p.strength, mended: mended, workers: p.workers}
}

// named reports whether a verdict is a right one.
func (p *pair) named(f finding) bool {
	return is(f, p.problem) || slices.Contains(p.also, f.Verdict)
}

// least runs a pair in turns, so that both have the same neighbours, and takes the least of
// each. Where the two least of one differ, others had the CPUs, and it goes on; ok is false
// where they do in the end.
func (x tools) least(t *testing.T, p *pair, runs int) (ok bool) {
	var bad, mended []float64
	for len(bad) < patient && (len(bad) < runs || !steady(bad) || !steady(mended)) {
		bad = append(bad, x.seconds(t, p.name, p.setting(false)))
		mended = append(mended, x.seconds(t, p.name, p.setting(true)))
	}
	p.bad, p.mended = min(p.bad, slices.Min(bad)), min(p.mended, slices.Min(mended))
	return steady(bad) && steady(mended)
}

// steady reports whether the two least of some times are about the same.
func steady(times []float64) bool {
	s := slices.Sorted(slices.Values(times))
	return len(s) > 1 && s[1] <= (1+differ)*s[0]
}

// most returns the result of at least two of three runs. If others had the CPUs, a run that
// is right counts, and one that is not is repeated; ok is false after too many of those.
func (x tools) most(t *testing.T, p *pair, mended bool, right func(v seen) bool) (v seen, is, ok bool) {
	var of [2][]seen
	for tries := 0; len(of[0]) < 2 && len(of[1]) < 2; {
		switch v := x.record(t, p.name, p.setting(mended)); {
		case right(v):
			of[1] = append(of[1], v)
		case !v.starved:
			of[0] = append(of[0], v)
		case tries == patient:
			return v, false, false
		default:
			tries++
		}
	}
	if len(of[1]) == 2 {
		return of[1][1], true, true
	}
	return of[0][1], false, true
}

// judge checks a pair: the problem must be the first finding, the mended one must have no
// finding, and if mending gains nothing there must be none.
func (x tools) judge(t *testing.T, s shape, k knob) *pair {
	p := &pair{shape: s, knob: k, bad: math.Inf(1), mended: math.Inf(1)}
	busy := func() *pair { p.skip = "the machine is too busy to judge"; return p }
	if !x.least(t, p, runs) {
		return busy()
	}
	if p.problem == "memory-bandwidth" && p.measured() < 1-1/worthwhile {
		p.skip = "going over it all costs little more than going over parts here"
		return p
	} else if p.problem == "memory-bandwidth" {
		if by := x.measureMemory(t); by < worthwhile {
			p.skip = fmt.Sprintf("two cores move memory almost as fast as one does here: it takes %.2f times longer", by)
			return p
		}
	}
	wrong := func(format string, args ...any) { p.wrong = append(p.wrong, fmt.Sprintf(format, args...)) }
	nothing := func(v seen) bool { return len(v.findings) == 0 }
	v, right, ok := x.most(t, p, false, func(v seen) bool {
		if nothing(v) {
			return p.measured() < brings
		}
		return p.named(v.findings[0])
	})
	if !ok {
		return busy()
	}
	p.first = v.top()
	if !right {
		wrong("%s", v.first())
	}
	for _, f := range v.findings { // a promise may be on any line
		if p.named(f) && f.gain() > promise*max(p.measured(), 0) {
			x.least(t, p, 2*runs) // or the runs were not the fastest
			if f.gain() > promise*max(p.measured(), 0) {
				wrong("promised %.0f %%", 100*f.gain())
			}
		}
	}
	v, right, ok = x.most(t, p, true, nothing)
	if !ok {
		return busy()
	}
	if p.twin = v.top(); !right {
		wrong("%s where it is mended", v.first())
	}
	return p
}

func (p *pair) promised() bool {
	return slices.ContainsFunc(p.wrong, func(s string) bool { return strings.HasPrefix(s, "promised") })
}

// pairLine formats a line of the table. Each is printed at once, as the table takes minutes.
const pairLine = "%-13s %-23s %-8s %-7v %-23s %-9s %-7s %-7s %-6s %-17s %s\n"

func (p *pair) write(out io.Writer) {
	verdict := "ok"
	if len(p.wrong) > 0 {
		verdict = "WRONG: " + strings.Join(p.wrong, "; ")
	}
	if p.skip != "" {
		verdict = "not judged: " + p.skip
	}
	fmt.Fprintf(out, pairLine, p.name, p.problem, p.strength, p.workers, p.first.name(), p.first.percent(),
		fmt.Sprintf("%.3f", p.bad), fmt.Sprintf("%.3f", p.mended), fmt.Sprintf("%.0f %%", 100*p.measured()), p.twin.name(), verdict)
}

// checkPairs judges all pairs.
func (x tools) checkPairs(t *testing.T) {
	all, judged, right := 0, 0, 0
	fmt.Printf(pairLine, "shape", "problem", "strength", "workers", "found", "gain found", "seconds", "mended", "gain", "found if mended", "")
	for _, s := range shapes {
		for _, k := range s.knobs {
			p := x.judge(t, s, k)
			p.write(os.Stdout)
			if all++; p.skip != "" {
				continue
			}
			if judged++; len(p.wrong) == 0 {
				right++
			}
			if p.promised() {
				t.Errorf("%s, strength %s, %d workers: the estimated gain is %s, and mending brings %.0f %%", p.name, p.strength, p.workers, p.first.percent(), 100*p.measured())
			}
		}
	}
	fmt.Printf("right: %d of %d pairs that were judged\n", right, judged)
	switch {
	case judged < 40:
		t.Errorf("%d of %d pairs could be judged, 40 have to be: look at the table for why", judged, all)
	case float64(right) < rightPairs*float64(judged):
		t.Errorf("%d of %d pairs are right, %.0f %% have to be", right, judged, 100*rightPairs)
	}
}

// checkReal looks at the healthy programs of modules that others wrote. What is found
// counts as false unless scopeview scale finds that there is at least half as much to be
// had: that the run on all processors takes so much longer than its share of that on one.
// A finding without a gain needs a quarter of the time.
func (x tools) checkReal(t *testing.T) {
	bin := filepath.Join(x.dir, "real"+filepath.Ext(x.doctor))
	c := exec.Command("go", "build", "-o", bin, ".")
	c.Dir = "real"
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("examples/doctor/real can't be built; make deps gets its modules: %v\n%s", err, out)
	}
	// Assembly of one of the modules changes the frame pointer: the recorder takes no states unless Go's
	// tracer takes stacks by tables.
	t.Setenv("GODEBUG", "tracefpunwindoff=1")
	const line = "%-18s %-23s %-9s %-17s %-9s %s\n"
	fmt.Printf(line, "healthy program", "found", "gain found", "speed-up by scale", "possible", "")
	for name := range strings.FieldsSeq(string(command(t, bin))) {
		record := func() seen {
			path := filepath.Join(x.dir, "real.scope")
			defer os.Remove(path)
			command(t, bin, "-trace", path, name)
			return x.examine(t, path)
		}
		v := record()
		if again := record(); len(again.findings) == 0 {
			v = again // once is chance
		}
		if len(v.findings) == 0 {
			fmt.Printf(line, name, "nothing", "", "", "", "ok")
			continue
		}
		cpus := runtime.NumCPU()
		var report struct {
			Points []struct{ Speedup float64 }
		}
		out := command(t, x.scopeview, "scale", "-p", fmt.Sprintf("1,%d", cpus), "-n", "3", "--plain", "--json", "--", bin, name)
		if err := json.Unmarshal(out, &report); err != nil || len(report.Points) < 2 {
			t.Fatalf("scopeview scale --json: %v\n%s", err, out)
		}
		speedup := report.Points[1].Speedup
		room := max(1-speedup/float64(cpus), 0)
		for _, f := range v.findings {
			verdict := "ok: scale agrees"
			if f.gain() > promise*room || f.Gain == nil && room < unpromised {
				verdict = "WRONG"
				t.Errorf("%s: %s: %s", name, f.Verdict, f.Text)
			}
			fmt.Printf(line, name, f.name(), f.percent(), fmt.Sprintf("%.2f", speedup), fmt.Sprintf("%.0f %%", 100*room), verdict)
		}
	}
}
