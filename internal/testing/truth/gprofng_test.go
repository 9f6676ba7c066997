package truth

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

// gprofngRow is a row of gprofng's functions: exclusive and inclusive seconds with their shares, and
// the name.
var gprofngRow = regexp.MustCompile(`(?m)^ *([0-9.]+) +[0-9.]+ +([0-9.]+) +[0-9.]+ +(\S+)$`)

// TestTruthOfGprofng compares sums of a C program with gprofng's: two runs of the same work. gprofng
// counts a sample as one interval, however late it comes, so that its total says how many it has.
func TestTruthOfGprofng(t *testing.T) {
	dir := prepared(t, "gcc", "gprofng", "c++filt")
	shell(t, dir, "gcc -g -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o a shares.c")
	shell(t, dir, "gprofng collect app -p hi -o t.er ./a")
	exclusive, inclusive := map[string]float64{}, map[string]float64{}
	for _, m := range gprofngRow.FindAllStringSubmatch(string(shell(t, dir, "gprofng display text -functions t.er")), -1) {
		var err error
		if exclusive[m[3]], err = strconv.ParseFloat(m[1], 64); err == nil {
			inclusive[m[3]], err = strconv.ParseFloat(m[2], 64)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	all := exclusive["<Total>"]
	n := all / 0.001 // -p hi
	if n < 100 {
		t.Skipf("gprofng has %.0f samples of some 20 s: its timer does not come here", n)
	}
	shell(t, dir, "./scopeview record --counter task-clock:1ms -o x.scope -- ./a")
	for name, theirs := range map[string]map[string]float64{"exclusive_cpu": exclusive, "inclusive_cpu": inclusive} {
		ours := column(t, dir, name)
		sum := total(column(t, dir, "exclusive_cpu"))
		for _, f := range []string{"first", "second", "third", "both", "main"} {
			want, got := theirs[f]/all, ours[where{function: f}]/sum
			if d := 0.03 + 4*math.Sqrt(want*(1-want)/n); math.Abs(got-want) > d {
				t.Errorf("%s has %.1f %% of %s, by gprofng %.1f %% of %.0f samples", f, 100*got, name, 100*want, n)
			}
		}
	}
	t.Logf("%.0f samples by gprofng: %v", n, exclusive)
}
