package samples

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestEnclosing: samples have all scopes around them, and the slow ones are marked: one in a
// hundred, with those nested in it. An ended scope encloses nothing.
func TestEnclosing(t *testing.T) {
	var b strings.Builder
	b.WriteString("header rate=1000000000\nstate closed=1 tick=900000\nchunk blocks sealed\nname 2 \"f\"\nname 3 \"g\"\n" +
		"calib ticks=1000 mono=0 wall=1700000000000000000 bracket=20\nstop ticks=900000\nchunk records owner=0 since=1000 sealed\n  anchor start=1000 thread=12 cpu=77\n")
	late := late{}
	const n = 110
	for i := range n {
		at := 1000 * int64(i+1)
		dur := int64(100)
		if i == 50 || i == 100 {
			dur = 900
		}
		fmt.Fprintf(&b, "  task \"f\" g=7 start=%d stop=%d cpu=1/exact\n", at+1000, at+1000+dur)
		if i == 100 {
			fmt.Fprintf(&b, "  task \"g\" g=7 start=%d stop=%d cpu=1/exact\n  task \"f\" g=7 start=%d stop=%d cpu=1/exact\n", at+1010, at+1090, at+1020, at+1030)
		}
		for _, x := range []one{{time: at + 50, goid: 7}, {time: at + 25, goid: 7}, {time: at + 950, goid: 7}, {time: at + 50, goid: 8}} {
			late.add(&x)
		}
	}
	tr := tracetest.OpenText(t, b.String())
	got := map[string]int{}
	s := newSum()
	s.metric(cpu)
	r := &goReader{sum: s, ctx: context.Background(), late: late}
	r.sel = &Selection{Selection: &analysis.Selection{}, Split: Split{Scope: true}, Enclosing: true, Each: func(x *Sample) {
		text := fmt.Sprintf("%s:", x.Labels.Scope)
		for _, in := range x.Scopes {
			text += fmt.Sprintf(" %s %v", tr.Name(in.Name), in.Slow)
		}
		got[text]++
	}}
	r.more = r.sel.watch(r.ctx)
	if err := r.nameScopes(tr); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"f: f false": 2 * (n - 2), "f: f true": 2, "g: f true g true": 1, "f: f true g true f true": 1, ":": n + n,
	}
	for text := range want {
		if got[text] != want[text] {
			t.Errorf("%q: %d samples, want %d", text, got[text], want[text])
		}
	}
	if len(got) != len(want) {
		t.Errorf("samples are in %v", got)
	}
	f := s.p.ByScope[2]
	if f.Slow != 2 || f.Rest != n-2 || f.Limit > 900 || f.Limit < 890 {
		t.Errorf("of f %+v", f)
	}
}

// TestLengthClasses: a class has the durations from its least on, and is at most a 128th
// wide.
func TestLengthClasses(t *testing.T) {
	lengths := []int64{0, 1, 2, 3, 127, 128, 129, 1000, 999_999, 1 << 40, 1<<53 - 1, 1<<62 + 12345}
	for _, ns := range lengths {
		class := lengthClass(ns)
		least := leastOfClass(class)
		if least > ns || float64(ns-least) > float64(ns)/128 || lengthClass(least) != class {
			t.Errorf("%d is in class %d, from %d on", ns, class, least)
		}
	}
	if !slices.IsSortedFunc(lengths, func(a, b int64) int { return int(lengthClass(a)) - int(lengthClass(b)) }) {
		t.Error("classes don't have the order of lengths")
	}
}
