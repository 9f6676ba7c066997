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
		{ratio("at the goal", 21, 20, 1.05, 1.3), verdictGoal},
		{ratio("between", 24, 20, 1.05, 1.3), verdictOK},
		{ratio("above", 27, 20, 1.05, 1.3), verdictMiss},
		{ratio("nothing is demanded", 270, 20, 0, 0), verdictNone},
		{over("below an empty call", 1.2, 1.5, 1.5, 3), verdictGoal},
		{over("above", 6, 1.5, 1.5, 3), verdictMiss},
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
	miss := ratio("slow", 40, 20, 1.05, 1.3)
	tab.add("part", []row{ratio("quick", 20, 20, 1.05, 1.3), miss})
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

func TestMediansRunEveryLoopAsOftenAsTheySay(t *testing.T) {
	b := &bench{rounds: 3}
	var runs int64
	l := func(n int) time.Duration { runs += int64(n); return 0 }
	p := plan{slices: 2, size: 10}
	b.medians(p, l)
	if want := b.iterations(p); runs != want {
		t.Errorf("the loop ran %d times, iterations says %d", runs, want)
	}
}
