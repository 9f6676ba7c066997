package check

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/advice/verify"
	"github.com/scopeview/scopeview/internal/runs"
)

// Criteria of make advise-check for the estimates.
const (
	rounds  = 8   // runs of each program
	within  = 2.0 // maximum factor of a correct estimate
	atLeast = 0.8 // minimum share of correct estimates
)

// few are the diagnostics whose programs always run. They are in one group, so that the
// standard library is compiled once.
var few = []string{"slice-too-small", "map-too-small", "custom-too-small"}

// full reports whether all programs are to run.
func full() bool { return os.Getenv("SCOPEVIEW_ADVICE") == "full" }

// diagnostics returns those that have programs.
func diagnostics(t *testing.T) (list []string) {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// ruleOf returns the rule of a diagnostic.
func ruleOf(t *testing.T, id string) *advice.Rule {
	t.Helper()
	i := slices.IndexFunc(advice.Rules, func(r advice.Rule) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("testdata/%s: there is no such diagnostic", id)
	}
	return &advice.Rules[i]
}

// TestEachHasPrograms: each diagnostic has programs, and each set of programs belongs to a
// diagnostic.
func TestEachHasPrograms(t *testing.T) {
	list := diagnostics(t)
	for _, r := range advice.Rules {
		if !slices.Contains(list, r.ID) {
			t.Errorf("%s has no programs", r.ID)
		}
	}
	for _, id := range list {
		ruleOf(t, id)
		for _, which := range []string{"must", "silent", "fixed"} {
			if _, err := os.Stat(filepath.Join("testdata", id, which, "main.go")); err != nil {
				t.Error(err)
			}
		}
	}
}

// verdict is the result for a diagnostic's programs.
type verdict struct {
	id       string
	advised  bool
	silent   bool
	judgment advice.Judgement // of must
	output   string
	wrong    []string
	also     []string // other advice on its programs
	of       *gain    // nil: not measured
}

// look runs counting builds of the three programs.
func look(t *testing.T, id string) *verdict {
	t.Helper()
	rule, v := ruleOf(t, id), &verdict{id: id}
	wrong := func(format string, args ...any) { v.wrong = append(v.wrong, fmt.Sprintf(format, args...)) }
	others := func(which string, r *advice.Report) {
		for _, f := range r.Findings {
			if f.ID != id {
				v.also = append(v.also, fmt.Sprintf("%s of %s: %s saves %s", which, id, f.ID, f.Saves()))
			}
		}
	}
	// Effects between processors need two that run at once, which other load may prevent.
	tries := 1
	if slices.Contains(rule.Kinds, row.Line) {
		tries = 4
	}
	var out string
	var counted *advice.Report
	for ; tries > 0 && !v.advised; tries-- {
		out, counted = source(t, id, "must").counted(t, flags(rule))
		v.judgment, v.advised = advised(rule, counted)
	}
	others("must", counted)
	v.output = out
	if !v.advised {
		wrong("must is not advised")
	}
	_, counted = source(t, id, "silent").counted(t, flags(rule))
	others("silent", counted)
	j, ok := advised(rule, counted)
	if v.silent = !ok; ok {
		wrong("silent is advised: %s", j.Advice)
	}
	fixed, counted := source(t, id, "fixed").counted(t, flags(rule))
	others("fixed", counted)
	if j, ok := advised(rule, counted); ok {
		wrong("fixed is advised: %s", j.Advice)
	}
	if fixed != out {
		wrong("fixed prints %.100q, and must %.100q", fixed, out)
	}
	return v
}

// TestPrograms: programs with the problem are advised, and the others are not.
func TestPrograms(t *testing.T) {
	list := few
	if full() {
		t.Skip("TestAdviseCheck does it of all")
	}
	tool(t)
	for _, id := range list {
		t.Run(id, func(t *testing.T) {
			v := look(t, id)
			for _, w := range v.wrong {
				t.Error(w)
			}
			t.Log(v.judgment.Advice)
		})
	}
}

// gain is the saving of following advice, as estimated, and as measured with its interval.
type gain struct {
	unit                          string
	estimate, measured, low, high float64
}

// near reports whether the estimate is correct.
func (g *gain) near() bool {
	return g.low > 0 && math.Abs(math.Log(g.estimate/g.measured)) <= math.Log(within)
}

// measure runs plain builds of must and fixed alternately.
func (v *verdict) measure(t *testing.T) {
	t.Helper()
	must, fixed := source(t, v.id, "must").plain(t), source(t, v.id, "fixed").plain(t)
	var sides [2][]took
	for round := range rounds + 1 {
		for i := range sides {
			side := (i + round) % 2
			out, k, err := run(t.Context(), []string{must, fixed}[side])
			if err != nil {
				t.Fatal(err)
			}
			if out != v.output {
				t.Fatalf("it prints %.100q plain, and %.100q", out, v.output)
			}
			if round > 0 { // the first run reads the files
				sides[side] = append(sides[side], k)
			}
		}
	}
	v.of = gainOf(&v.judgment, ruleOf(t, v.id), sides[0], sides[1])
}

// overlapping are the rules for goroutines that wait for each other at once, which is no CPU
// time.
var overlapping = []string{"mutex-to-rwmutex"}

// gainOf compares the estimate to the measurement. The rule's estimate in ns is CPU time,
// except for waits for a device and overlapping waits. When goroutines wait for each other
// the cost is switching, which is CPU time, too.
func gainOf(j *advice.Judgement, rule *advice.Rule, must, fixed []took) *gain {
	g := &gain{unit: "ms", estimate: j.NS / 1e6}
	of := func(k took) float64 { return k.cpu / 1e6 }
	switch {
	case j.NS < advice.DefaultParams().LeastNS:
		g.unit, g.estimate = "MB", j.Bytes/1e6
		of = func(k took) float64 { return k.bytes / 1e6 }
	case rule.Group == advice.InputOutput || slices.Contains(overlapping, rule.ID):
		of = func(k took) float64 { return k.wall / 1e6 }
	}
	var from, to []float64
	for _, k := range fixed {
		from = append(from, of(k))
	}
	for _, k := range must {
		to = append(to, of(k))
	}
	g.measured = runs.Shift(from, to)
	g.low, g.high, _ = runs.Intervals{}.Of(from, to)
	return g
}

// TestAdviseCheck prints the table of all diagnostics.
func TestAdviseCheck(t *testing.T) {
	if !full() {
		t.Skip("make advise-check runs it")
	}
	tool(t)
	var all []*verdict
	near, measured := 0, 0
	for _, id := range diagnostics(t) {
		t.Run(id, func(t *testing.T) {
			v := look(t, id)
			all = append(all, v)
			for _, w := range v.wrong {
				t.Error(w)
			}
			if v.advised {
				v.measure(t)
				if measured++; v.of.near() {
					near++
				}
			}
		})
	}
	var text strings.Builder
	table(&text, all)
	text.WriteString("what else is advised of these programs:\n")
	for _, v := range all {
		for _, a := range v.also {
			text.WriteString("  " + a + "\n")
		}
	}
	t.Logf("\n%s%d of %d estimates are within a factor of %g", &text, near, measured, within)
	if float64(near) < atLeast*float64(measured) {
		t.Errorf("that is less than %.0f %%", 100*atLeast)
	}
}

// table writes a line for each diagnostic.
func table(w io.Writer, all []*verdict) {
	b := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(b, "diagnostic\tadvised\tsilent\testimate\tmeasured\tfactor")
	for _, v := range all {
		fmt.Fprintf(b, "%s\t%s\t%s\t", v.id, yes(v.advised), yes(v.silent))
		switch g := v.of; {
		case g == nil:
			fmt.Fprintln(b, "\t\t")
		case g.low <= 0:
			fmt.Fprintf(b, "%.1f %s\t%.1f (%.1f to %.1f)\tnone is measured\n", g.estimate, g.unit, g.measured, g.low, g.high)
		default:
			fmt.Fprintf(b, "%.1f %s\t%.1f (%.1f to %.1f)\t%.2f\n", g.estimate, g.unit, g.measured, g.low, g.high, g.estimate/g.measured)
		}
	}
	b.Flush()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}

// TestVerified: mechanical advice is applied where it was counted, and saves time.
func TestVerified(t *testing.T) {
	tool(t)
	for id, change := range map[string]string{
		"slice-too-small": "var v []int = make([]int, 0, 1000000)",
		"map-too-small":   "m := make(map[uint64]int, 200000)",
	} {
		t.Run(id, func(t *testing.T) {
			if id != few[0] && !full() {
				t.Skip("make advise-check runs it")
			}
			p := source(t, id, "must")
			_, r := p.counted(t, flags(ruleOf(t, id)))
			v, err := verify.Run(t.Context(), verify.Options{Dir: p.dir, Report: r, Runs: 5})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := v.WriteText(&text, r, p.dir); err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", &text)
			i := slices.IndexFunc(v.Tries, func(x verify.Try) bool { return r.Findings[x.Findings[0]].ID == id })
			if i < 0 {
				t.Fatal("it is not among what was tried")
			}
			if x := v.Tries[i]; x.Reason != "" || len(x.Changes) != 1 || !strings.HasSuffix(x.Changes[0], change) || x.Output != runs.Same || x.CPU.NS <= 0 {
				t.Errorf("%+v", x)
			}
		})
	}
}
