package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestInterval(t *testing.T) {
	count := func(n int) (v []float64) {
		for i := n; i > 0; i-- {
			v = append(v, float64(i))
		}
		return v
	}
	// The bounds are those of every table of the sign test.
	for _, c := range []struct {
		n         int
		low, high float64
	}{{1, 1, 1}, {6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {12, 3, 10}, {16, 4, 13}, {20, 6, 15}} {
		if low, high := interval(count(c.n)); low != c.low || high != c.high {
			t.Errorf("of %d observations the interval is from the %v. to the %v., want %v to %v", c.n, low, high, c.low, c.high)
		}
	}
}

func TestComparisons(t *testing.T) {
	at := func(ratios ...float64) *comparison {
		return &comparison{old: []float64{20}, new: []float64{21}, ratios: ratios}
	}
	for _, c := range []struct {
		name string
		c    *comparison
		row  comparedRow
		want string
	}{
		{"equal", at(1, 1.01, 0.99, 1, 1.02, 0.98), comparedRow{}, verdictSame},
		{"quicker", at(0.8, 0.8, 0.8, 0.8, 0.8, 0.8), comparedRow{}, verdictSame},
		{"slower, and sure", at(1.05, 1.06, 1.05, 1.04, 1.06, 1.05), comparedRow{}, verdictWorse},
		{"slower, and not sure", at(1.05, 1.06, 1.05, 1.02, 1.06, 1.05), comparedRow{}, verdictUnclear},
		{"a control", at(1.05, 1.06, 1.05, 1.04, 1.06, 1.05), comparedRow{control: true}, verdictControl},
		{"too few rounds", at(1, 1, 1, 1, 1), comparedRow{}, verdictFail},
		{"scopes are missing", &comparison{ratios: at(1, 1, 1, 1, 1, 1).ratios, fault: "9 of 10"}, comparedRow{}, verdictFail},
	} {
		if _, got := c.c.cells(&c.row); got != c.want {
			t.Errorf("%s: verdict %q, want %q", c.name, got, c.want)
		}
	}
}

func TestComparedPairs(t *testing.T) {
	// A neighbour slows both slices of a pair; the medians of each differ by chance.
	var o observation
	for _, p := range [][2]float64{{10, 10}, {15, 15}, {10, 10}, {15, 15.15}, {15, 14.85}} {
		o.add(p)
	}
	var c comparison
	c.observe(&o)
	if c.ratios[0] != 1 {
		t.Errorf("the ratio is %v, want 1", c.ratios[0])
	}
}

func TestUnlike(t *testing.T) {
	good := reply{Recorded: 100_000, Recorder: "assembly path"}
	for _, c := range []struct {
		name  string
		new   reply
		lossy bool
		want  string
	}{
		{"alike", good, false, ""},
		{"a few lost", reply{Recorded: 99_950, Lost: 50, Recorder: "assembly path (why)"}, false, ""},
		{"many lost", reply{Recorded: 90_000, Lost: 10_000, Recorder: "assembly path"}, true, ""},
		{"some missing", reply{Recorded: 99_999, Recorder: "assembly path"}, false, "new: 99999 of 100000"},
		{"another path", reply{Recorded: 100_000, Recorder: "go path (why)"}, false, "old: assembly path; new: go path (why)"},
	} {
		lossy, fault := unlike(&[2]reply{good, c.new}, 100_000)
		if lossy != c.lossy || !strings.HasPrefix(fault, c.want) || (fault == "") != (c.want == "") {
			t.Errorf("%s: lossy %t, %q, want %t, %q", c.name, lossy, fault, c.lossy, c.want)
		}
	}
}

func TestVerdictsTable(t *testing.T) {
	s := session{part: "part", rows: []comparedRow{{name: "one"}, {name: "two"}}}
	v := verdicts{old: "v1", rounds: 6}
	v.add(&s, []comparison{
		{old: []float64{20}, new: []float64{20}, ratios: []float64{1, 1, 1, 1, 1, 1}, lossy: 2},
		{old: []float64{20}, new: []float64{22}, ratios: []float64{1.1, 1.1, 1.1, 1.1, 1.1, 1.1}},
	})
	var b bytes.Buffer
	if err := v.print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"old is v1", "1.100  1.100 to 1.100", verdictWorse, "≤ 1.03", "2 rounds left out"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &b)
		}
	}
	if v.worse() != 1 {
		t.Errorf("%d rows are worse, want 1", v.worse())
	}
}
