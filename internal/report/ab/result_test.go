package ab

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/runs"
)

// times returns ten made-up times around a mean, which differ from it by at most that share.
func times(seed uint64, mean, share float64) (list []int64) {
	random := rand.New(rand.NewPCG(seed, 1))
	for range 10 {
		list = append(list, int64(mean*(1+share*(2*random.Float64()-1))))
	}
	return list
}

func TestTimeOf(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []int64
		want Verdict
		low  float64 // both bounds must be between low and high
		high float64
	}{
		{"a tenth slower", times(1, 1e9, 0.02), times(2, 1.1e9, 0.02), more, 0.06, 0.14},
		{"a tenth faster", times(1, 1e9, 0.02), times(2, 0.9e9, 0.02), less, -0.14, -0.06},
		{"the same", times(3, 1e9, 0.02), times(4, 1e9, 0.02), same, -0.03, 0.03},
		{"little in much noise", times(3, 1e9, 0.3), times(4, 1.02e9, 0.3), same, -0.5, 0.5},
		{"twice, four runs", []int64{100, 101, 102, 103}, []int64{200, 202, 204, 206}, more, 0.9, 1.1},
		{"twice, three runs", []int64{100, 101, 102}, []int64{200, 202, 204}, unknown, 0.9, 1.1},
		{"one run", []int64{100}, []int64{200}, unknown, 0.99, 1.01},
		{"equal to the ns", []int64{5, 5, 5, 5}, []int64{5, 5, 5, 5}, same, 0, 0},
		{"no difference", []int64{0, 10, 10, 10}, []int64{10, 10, 10, 10}, unknown, 0, 0},
	} {
		x := timeOf("", c.a, c.b)
		if x.Verdict != c.want || x.Low < c.low || x.High > c.high || x.Low > x.High {
			t.Errorf("%s: %+v, want %s within %v to %v", c.name, x, c.want, c.low, c.high)
		}
	}
}

// TestTimeOfHoldsItsConfidence compares many builds that differ by 10 %, where nearly all intervals
// must contain the difference, and many equal builds, of which few may be reported as different.
func TestTimeOfHoldsItsConfidence(t *testing.T) {
	const rounds = 2000
	outside, differing := 0, 0
	for i := range uint64(rounds) {
		a := times(3*i+1, 1e9, 0.05)
		if x := timeOf("", a, times(3*i+2, 1.1e9, 0.05)); x.Low > 0.1 || x.High < 0.1 {
			outside++
		}
		if x := timeOf("", a, times(3*i+3, 1e9, 0.05)); x.Verdict != same {
			differing++
		}
	}
	for what, n := range map[string]int{"intervals without the truth": outside, "equal builds reported to differ": differing} {
		if share := float64(n) / rounds; share > 0.06 {
			t.Errorf("%s: %.3f, want 0.05 at most", what, share)
		}
	}
}

func TestConcludeComparesOutputs(t *testing.T) {
	made := func(outputs map[uint64]int) *runs.Side {
		return &runs.Side{CPU: []int64{1, 1}, Wall: []int64{1, 1}, Outputs: outputs}
	}
	for _, c := range []struct {
		a, b map[uint64]int
		want runs.Output
	}{
		{map[uint64]int{7: 2}, map[uint64]int{7: 2}, runs.Same},
		{map[uint64]int{7: 2}, map[uint64]int{8: 2}, runs.Differ},
		{map[uint64]int{7: 1, 8: 1}, map[uint64]int{7: 1, 8: 1}, runs.Varies},
		{map[uint64]int{7: 2}, map[uint64]int{7: 1, 8: 1}, runs.Varies},
	} {
		var r Result
		if r.conclude([]*runs.Side{made(c.a), made(c.b)}); r.Output != c.want {
			t.Errorf("%v and %v: %q, want %q", c.a, c.b, r.Output, c.want)
		}
	}
}

func TestText(t *testing.T) {
	three, none := 3, 0
	builds := []*Build{
		{Name: "A", Profile: "off", Took: 12e9, Compiled: &three, Packages: 100, Size: 3_410_000},
		{Name: "B", Profile: "default.pgo", Took: 3e8, Compiled: &none, Packages: 100, Size: 3_520_000},
	}
	of := func(n int, a, b []int64) *Result {
		r := &Result{Runs: n, Builds: builds, Changed: 7}
		r.conclude([]*runs.Side{{CPU: a, Wall: a, Outputs: map[uint64]int{1: 1}}, {CPU: b, Wall: b, Outputs: map[uint64]int{1: 1}}})
		return r
	}
	ten := func(from int64) (list []int64) {
		for i := range int64(10) {
			list = append(list, from+i)
		}
		return list
	}
	differ := of(10, ten(1000), ten(900))
	differ.Output = runs.Differ
	for name, c := range map[string]struct {
		r    *Result
		want []string
	}{
		"less": {of(10, ten(1000), ten(900)), []string{
			"A off 12.0s 3 of 100 packages 3.25 MiB", "B default.pgo 300ms nothing: all was cached 3.36 MiB",
			"the builds differ in 7 of 100 packages", "CPU time 1.00µs 904ns -10.0%",
			"B needs 10.0% less CPU time (95%: 9.7% to 10.2%)\nB needs 10.0% less wall time",
		}},
		"more":      {of(10, ten(900), ten(1000)), []string{"B needs 11.1% more CPU time (95%: 10.7% to 11.4%)"}},
		"same":      {of(10, ten(1000), ten(1000)), []string{"no difference in CPU time after 10 runs: 95% interval -0.3% to +0.3%; more runs (-n 40) would narrow it"}},
		"few":       {of(1, []int64{10}, []int64{20}), []string{"too few runs of each build (1) to show a difference in CPU time with 95% confidence: give 4 (-n)"}},
		"short":     {of(10, make([]int64, 10), ten(1)), []string{"no result for CPU time: in some run the system measured none"}},
		"differ":    {differ, []string{"the two builds write different outputs"}},
		"identical": {&Result{Builds: builds, Identical: true}, []string{"B's profile changes nothing: for all 100 packages the compiled code is the same as A's; nothing was run"}},
	} {
		var b report.Text
		c.r.Report().Text(&b)
		got := strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == ' ' }), " ")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: it lacks %q:\n%s", name, want, &b)
			}
		}
	}
}

func TestDocument(t *testing.T) {
	r := &Result{Builds: []*Build{{Name: "A", path: "secret"}, {Name: "B"}}}
	r.conclude([]*runs.Side{{CPU: []int64{0}, Wall: []int64{1}}, {CPU: []int64{1}, Wall: []int64{2}}})
	var b bytes.Buffer
	if err := report.WriteJSON(&b, "pgo.ab", r.Report().Document, 0); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(b.String()), "")
	if !strings.Contains(got, `"cpu":{"a_ns":0,"b_ns":1,"change":0,"low":0,"high":0,"confidence":0,"verdict":"unknown"}`) || strings.Contains(got, "secret") {
		t.Error(got)
	}
}

// TestContents: the test variant of a package takes precedence, wherever it is listed.
func TestContents(t *testing.T) {
	off := contents("unsafe\t\nm/a\tin/one\nm/a [m/a.test]\tin/two\nregexp\tin/three\nm/a.test\tin/four\n")
	with := contents("unsafe\t\nregexp [m/a.test]\tnew/three\nm/a [m/a.test]\tnew/2\nm/a\tnew/1\nm/a.test\tnew/four\nmore\tx\n")
	want := map[string]string{"m/a": "two", "regexp": "three", "m/a.test": "four"}
	if !maps.Equal(off, want) {
		t.Errorf("got %v, want %v", off, want)
	}
	if n := changed(off, with); n != 2 { // m/a, and more
		t.Errorf("%d packages have changed, want 2: %v", n, with)
	}
}
