package others

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
)

// budget is the default share of the CPU time for recording.
const budget = 0.03

// rounds is the number of runs of each program in each way.
const rounds = 9

// ways are the ways to run a program: unchanged, and again, which shows the noise; built by
// scopeview without recording; recorded as in a first scopeview run, after two runs have
// found functions called too often, and that without states.
var ways = []struct {
	name     string
	program  int // plain, first or learnt
	recorded bool
	env      []string
}{
	{"plain", plain, false, nil},
	{"plain, again", plain, false, nil},
	{"learnt, not recording", learnt, false, nil},
	{"a first build", first, true, nil},
	{"learnt", learnt, true, nil},
	{"learnt, without states", learnt, true, []string{"SCOPEVIEW_STATES=0"}},
}

const (
	plain = iota
	first
	learnt
)

// TestCost: recording's share of a program's CPU time is within the budget, as far as this
// many runs can show, after two runs have found functions called too often; so is the share
// of another profiler's samples in the recorder's instructions, or the trace reports that it
// is not; the program's results are the same each time; and its trace has the expected
// content. The cost of a first build is only reported: see docs/performance.md for its size
// and reasons.
func TestCost(t *testing.T) {
	full(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			c := module(t, p.version)
			bin := t.TempDir()
			programs := []string{filepath.Join(bin, "plain"), filepath.Join(bin, "first"), filepath.Join(bin, "learnt")}
			c.build(p, programs[plain], programs[first])
			c.learn(p, bin)
			c.build(p, "", programs[learnt])
			dirs := make([]string, len(ways))
			took := make([][]float64, len(ways))
			want, _ := p.run(c, programs[plain], c.env) // and creates the program's input
			run := func(round, i int) func() {
				w, env := ways[i], append(slices.Clone(c.env), ways[i].env...)
				if w.recorded {
					env = append(env, "SCOPEVIEW="+dirs[i]+"/", "SCOPEVIEW_LIMIT=1G")
				}
				return func() {
					got, cost := p.run(c, programs[w.program], env)
					took[i] = append(took[i], math.Log(float64(cost.User+cost.System)))
					if got != want {
						t.Errorf("round %d, %s: it gave %.200q, and another time %.200q", round, w.name, got, want)
					}
				}
			}
			for i := range ways {
				dirs[i] = t.TempDir()
			}
			for round := range rounds {
				var turns []func()
				for i := range ways {
					if round%2 > 0 {
						i = len(ways) - 1 - i // the first to run may find the machine in another state
					}
					turns = append(turns, run(round, i))
				}
				if !p.serves {
					c.atOnce(turns...)
					continue
				}
				for _, f := range turns {
					f()
				}
			}
			for i, w := range ways {
				if i == 0 {
					continue
				}
				middle, low, high := paired(took[0], took[i])
				t.Logf("%s: %.2f s of CPU time plain; median of %d pairs %.3f, %.3f to %.3f with a confidence of 96 %%", w.name, median(took[0]), rounds, middle, low, high)
				if !w.recorded {
					continue
				}
				text := exceeded(t, dirs[i], rounds)
				if text != "" {
					t.Logf("%s: the trace says: %s", w.name, text)
				}
				if most := max(1+budget, p.most); w.program == learnt && low > most {
					t.Errorf("%s: recording takes %.2f of the plain CPU time or more, and is to take %.2f at most", w.name, low, most)
				}
				c.look(traces(t, dirs[i], rounds)[0], p.goroutines, p.contended)
			}
			if !canSample(t) {
				t.Log("perf can't sample all processes here")
				return
			}
			dirs = append(dirs, t.TempDir())
			env := append(slices.Clone(c.env), "SCOPEVIEW="+dirs[len(dirs)-1]+"/", "SCOPEVIEW_LIMIT=1G")
			text, part, sigma := c.sampled(programs[learnt], func() { p.run(c, programs[learnt], env) })
			t.Logf("learnt: %s are at instructions of recording", text)
			if part > budget+2*sigma && exceeded(t, dirs[len(dirs)-1], 1) == "" {
				t.Errorf("learnt: %s are at instructions of recording, the budget is %.1f %%, and the trace does not say that it was not kept", text, 100*budget)
			}
		})
	}
}

// build builds a program plainly, if plain is not empty, and with scopeview.
func (c *checkout) build(p program, plain, ours string) {
	c.t.Helper()
	if p.bench != "" {
		if plain != "" {
			c.must("go", "test", "-c", "-o", plain, p.main)
		}
		c.must(c.tool, "test", "-o", c.t.TempDir(), "-run=NONE", "-o", ours, p.main)
		return
	}
	if plain != "" {
		c.must("go", "build", "-buildvcs=false", "-o", plain, p.main)
	}
	c.must(c.tool, "build", "-buildvcs=false", "-o", ours, p.main) // otherwise waiting for the server would include version control
}

// learn makes two runs to find functions called too often: later builds leave them out.
func (c *checkout) learn(p program, bin string) {
	c.t.Helper()
	if p.bench != "" {
		for range 2 {
			c.must(c.tool, append([]string{"test", "-o", c.t.TempDir(), "-run=NONE", p.main}, strings.Fields(p.bench)...)...)
		}
		return
	}
	learning := filepath.Join(bin, "learning")
	script := fmt.Sprintf("#!/bin/sh\ncd %q && exec %q run -o %q %s \"$@\"\n", c.dir, c.tool, c.t.TempDir(), p.main)
	if err := os.WriteFile(learning, []byte(script), 0o700); err != nil {
		c.t.Fatal(err)
	}
	for range 2 {
		p.run(c, learning, c.env)
	}
}

// paired returns the median of the ratios of neighbours, given as logarithms, with its
// interval: for nine pairs the second smallest and the second largest have a confidence of
// 96 %, by the sign test.
func paired(plain, ours []float64) (middle, low, high float64) {
	var d []float64
	for i := range plain {
		d = append(d, math.Exp(ours[i]-plain[i]))
	}
	slices.Sort(d)
	return d[len(d)/2], d[1], d[len(d)-2]
}

// exceeded returns the report of a trace on an exceeded budget, if one has it.
func exceeded(t *testing.T, dir string, runs int) (text string) {
	t.Helper()
	for _, path := range traces(t, dir, runs) {
		tr, err := trace.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = cmp.Or(text, tr.Lookup("budget_exceeded"))
		tr.Close()
	}
	return text
}

func median(logs []float64) float64 {
	logs = slices.Sorted(slices.Values(logs))
	return math.Exp(logs[len(logs)/2]) / 1e9
}

// goroutine matches the name of a row: a function, with its package.
var goroutine = regexp.MustCompile(`(?m)^[a-z]+\.[A-Za-z(]\S* `)

// look checks the expected content of a trace: functions, goroutines by name, waits with
// holders, and a verdict of the doctor.
func (c *checkout) look(path string, goroutines, contended bool) {
	c.t.Helper()
	if calls, _, _ := callsOf(c.t, path); len(calls) < 10 {
		c.t.Errorf("%s has %d functions", path, len(calls))
	}
	rows := c.must(c.tool, "top", "--by", "track", path).out
	if goroutines && !goroutine.MatchString(rows) {
		c.t.Errorf("%s has no goroutines by name:\n%s", path, rows)
	}
	var d struct {
		Locks []struct {
			Kind    string
			Holders []struct{ Name *string }
		}
	}
	if err := json.Unmarshal([]byte(c.must(c.tool, "waits", "--json", path).out), &d); err != nil {
		c.t.Fatal(err)
	}
	held := false
	for _, l := range d.Locks {
		for _, h := range l.Holders {
			held = held || h.Name != nil && strings.HasSuffix(l.Kind, "mutex")
		}
	}
	if contended && !held {
		c.t.Errorf("%s has no waits for a lock whose holder is known", path)
	}
	c.must(c.tool, "doctor", path)
}
