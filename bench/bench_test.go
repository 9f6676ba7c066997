package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		row  row
		want string
	}{
		{ratio("at the goal", 21, 1.05, 1.05, 1.3), verdictGoal},
		{ratio("between", 24, 1.2, 1.05, 1.3), verdictOK},
		{ratio("above", 27, 1.35, 1.05, 1.3), verdictMiss},
		{ratio("nothing is demanded", 270, 13.5, 0, 0), verdictNone},
		{over("below an empty call", 1.2, 1.5, -0.3, 1.5, 3), verdictGoal},
		{over("above", 6, 1.5, 4.5, 1.5, 3), verdictMiss},
		{rateRow("enough", 25e6, 20, 20), verdictGoal},
		{rateRow("too few", 19e6, 20, 20), verdictMiss},
		{row{fault: tally{recorded: 9, lost: 1}.kept(10), value: quantity{1, "ns"}}, verdictFail},
		{row{fault: tally{recorded: 10}.kept(10), value: quantity{1, "ns"}}, verdictNone},
	} {
		if got := c.row.verdict(); got != c.want {
			t.Errorf("%s: verdict %q, want %q", c.row.name, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	tab := table{machine: hardware{cpu: "Some(R) CPU @ 2 GHz", kernel: "Linux 6", cores: 2, fileSystem: "ext4"}, when: time.Unix(0, 0)}
	miss := ratio("slow", 40, 2, 1.05, 1.3)
	tab.add("part", []row{ratio("quick", 20, 1, 1.05, 1.3), miss})
	if n := tab.missed(); n != 1 {
		t.Errorf("%d missed, want 1", n)
	}
	var b bytes.Buffer
	if err := tab.print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Some(R) CPU @ 2 GHz, 2 CPUs, Linux 6", "quick", "40.0 ns", "2.00×", "≤ 1.30×", verdictMiss} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &b)
		}
	}
	if got, want := slug(tab.machine.name()), "some-r-cpu-2-ghz-2-cpu"; got != want {
		t.Errorf("the file is named %q, want %q", got, want)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.v); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.v, got, c.want)
		}
	}
}

func TestTimesLeaveOutWhatANeighbourSlowed(t *testing.T) {
	// The second loop takes 1.5 times the first; in the slow slices, and in the
	// one before them, it takes longer.
	ts := times{
		{{10, 10, 10, 16, 10}, {15, 15, 40, 40, 15}},
		{{16, 10, 10.4, 10, 10}, {40, 15, 15.6, 15, 15}},
	}
	if _, share := ts.quiet(); share != 0.7 {
		t.Errorf("the machine was quiet in %v of the slices, want 0.7", share)
	}
	if ns := ts.ns(0); ns != 10 {
		t.Errorf("the first loop takes %v ns, want 10", ns)
	}
	if r := ts.to(1, 0); r != 1.5 {
		t.Errorf("the second is %v times the first, want 1.5", r)
	}
	if d := ts.over(1, 0); d != 5 {
		t.Errorf("the second takes %v ns more, want 5", d)
	}
}

func TestTimesOfAMachineThatIsNeverQuiet(t *testing.T) {
	round := [][]float64{nil, nil}
	for i := range 100 {
		ns := 20.0
		if i%8 == 0 {
			ns = 10
		}
		round[0] = append(round[0], ns)
		round[1] = append(round[1], 2*ns)
	}
	ts := times{round}
	if _, share := ts.quiet(); share >= 0.05 {
		t.Errorf("the machine was quiet in %v of the slices", share)
	}
	if r := ts.to(1, 0); r != 2 {
		t.Errorf("the second is %v times the first, want 2", r)
	}
}

func TestMeasureRunsEveryLoopAsOftenAsTheySay(t *testing.T) {
	b := &bench{rounds: 3}
	var runs int64
	l := func(n int) time.Duration { runs += int64(n); return 0 }
	p := plan{slices: 2, size: 10}
	b.measure(p, l)
	if want := b.iterations(p); runs != want {
		t.Errorf("the loop ran %d times, iterations says %d", runs, want)
	}
}
