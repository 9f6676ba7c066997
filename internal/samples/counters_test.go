package samples

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const countersText = `header path=go mono=100 clock=monotonic start=1000
state closed=1 tick=9000
chunk blocks sealed
info "counter_cycles" "off: this machine has no such counter"
info "counter_task-clock" "on"
info "aliases_read" "__read _read"
info "aliases_read" "__read libc_read"
frame 262144 "main.inner" "/src/main.go" line=12 start=10 inlined
frame 262145 "main.hot" "/src/main.go" line=22 start=20
frame 262146 "[kernel]" "[kernel]"
frame 262147 "runtime.main" "/go/proc.go" line=5
frame 262148 "runtime.goexit" "/go/asm.s" line=6
stack 65536 262144 262145 262147 262148
code 65536 0x401020 0x402000 0x403000
stack 65537 262146 262145
code 65537 0xffffffff81001000 0x401020
samples "task-clock" "nanoseconds" thread=12 base=500 until=900 lost=0 user:600:0:10:65536 kernel:610:1:20:65537 user:900:1:1:0
samples "page-faults" "count" thread=12 base=500 until=900 lost=0 kernel:700:0:5:65537
samples "task-clock" "nanoseconds" thread=13 base=500 until=700 lost=7 user:650:1:100:65536
samples "user" "apples" thread=13 base=500 until=700 lost=0 user:650:1:1000:0
stop ticks=9000
`

// summed formats the stacks of a profile: functions, and the metrics that are not 0.
func summed(p *Profile) (list []string) {
	for _, s := range p.Stacks {
		var b strings.Builder
		for _, f := range s.Frames {
			fmt.Fprintf(&b, "%s@%x ", f.Func, f.PC)
		}
		for m := range p.Metrics {
			if v := p.Value(s.Values, m); v != 0 {
				fmt.Fprintf(&b, "%s=%d ", p.Metrics[m].Name, v)
			}
		}
		list = append(list, strings.TrimSpace(b.String()))
	}
	return list
}

func TestCounters(t *testing.T) {
	tr := tracetest.OpenText(t, countersText)
	for _, test := range []struct {
		name string
		sel  Selection
		want []string
	}{
		{"all", Selection{}, []string{
			"<Unknown>@0 user=1 cpu=1 user_=1000", "[kernel]@ffffffff81001000 main.hot@401020 page-faults=5 system=20 cpu=20",
			"main.inner@401020 main.hot@401020 user=110 cpu=110",
		}},
		{"a thread", Selection{Threads: []uint32{13}}, []string{"<Unknown>@0 user_=1000", "main.inner@401020 main.hot@401020 user=100 cpu=100"}},
		{"a CPU", Selection{CPUs: []uint32{1}, Threads: []uint32{12}}, []string{"<Unknown>@0 user=1 cpu=1", "[kernel]@ffffffff81001000 main.hot@401020 system=20 cpu=20"}},
		{"another CPU", Selection{CPUs: []uint32{7, 0}}, []string{
			"[kernel]@ffffffff81001000 main.hot@401020 page-faults=5", "main.inner@401020 main.hot@401020 user=10 cpu=10",
		}},
		{"from", Selection{Selection: &analysis.Selection{From: 510, To: 800}}, []string{
			"<Unknown>@0 user_=1000", "[kernel]@ffffffff81001000 main.hot@401020 page-faults=5 system=20 cpu=20", "main.inner@401020 main.hot@401020 user=100 cpu=100",
		}},
		{"a goroutine that nobody knows of", Selection{Goroutines: []uint64{5}}, nil},
	} {
		if test.sel.Selection == nil {
			test.sel.Selection = &analysis.Selection{}
		}
		p, err := OfTrace(context.Background(), tr, &test.sel)
		if err != nil {
			t.Fatal(err)
		}
		got := summed(p)
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
		want := []string{"7 samples of the counter task-clock were lost: there was no room for them", "the counter cycles is off: this machine has no such counter"}
		if len(test.sel.Goroutines) > 0 {
			want = append([]string{noGoroutines}, want...)
		}
		if !reflect.DeepEqual(p.Notes, want) {
			t.Errorf("%s: notes %q", test.name, p.Notes)
		}
		if m := p.Metrics[p.Metric("user_")]; p.Preset != "cpu" || m.Unit != "apples" {
			t.Errorf("%s: first is %s; %+v", test.name, p.Preset, m)
		}
		for _, s := range p.Stacks {
			if f := s.Frames[0]; f.Func == "[kernel]" && (f.Object != "[kernel]" || f.File != "") {
				t.Errorf("%+v", f)
			}
		}
	}
}

// TestCPU: each sample of a counter has its CPU; sources without CPUs refuse a selection by
// CPU.
func TestCPU(t *testing.T) {
	var cpus []int
	sel := anything()
	sel.Each = func(s *Sample) { cpus = append(cpus, int(s.CPU)) }
	if _, err := OfTrace(context.Background(), tracetest.OpenText(t, countersText), sel); err != nil {
		t.Fatal(err)
	}
	slices.Sort(cpus)
	if want := []int{0, 0, 1, 1, 1, 1}; !slices.Equal(cpus, want) {
		t.Errorf("%v, want %v", cpus, want)
	}
	sel = anything()
	sel.CPUs = []uint32{0}
	if _, err := OfTrace(context.Background(), tracetest.OpenText(t, counted), sel); !errors.Is(err, errNotRecorded) {
		t.Errorf("calls of scope.Stack: %v", err)
	}
	if _, err := OfGoTrace(context.Background(), strings.NewReader(""), sel); !errors.Is(err, errNotRecorded) {
		t.Errorf("a Go execution trace: %v", err)
	}
	if _, err := OfPprof(context.Background(), strings.NewReader(""), sel); !errors.Is(err, errNotRecorded) {
		t.Errorf("a pprof profile: %v", err)
	}
}

// TestAliases: the other names of a function are those of all files that have one of its
// name.
func TestAliases(t *testing.T) {
	p, err := OfTrace(context.Background(), tracetest.OpenText(t, countersText), anything())
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Aliases); got != "map[read:[__read _read libc_read]]" {
		t.Error(got)
	}
}
