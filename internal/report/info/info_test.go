package info

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// lossy has two scopes, of which one has not ended, and three records that were lost.
const lossy = `header rate=1000000000 pid=4711
state closed=1 tick=9000 lost=3
chunk blocks
name 2 "f1"
name 3 "f2"
info "program" "demo"
calib ticks=1000 mono=0 wall=1700000000000000000 bracket=20
gap from=3000 to=4000 count=3 reason=space
beat ticks=8000 goroutines=5 lost_space=3
stop ticks=9000
chunk records owner=0 since=1000
  anchor start=1000 thread=12 cpu=77
  task "f1" g=7 start=2000 stop=4000 cpu=1500/exact
  task "f2" g=7 start=5000 open
`

// TestInfo: kept, lost and open records are counted; values that were not measured are null.
func TestInfo(t *testing.T) {
	r, err := Of(context.Background(), tracetest.OpenText(t, lossy), &analysis.Selection{}, "x.scope", analysis.StateClosed)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Document.(*document)
	if d.Path != "x.scope" || d.PID != 4711 || d.Info["program"] != "demo" || d.DurationNS != 8000 || d.State != analysis.StateClosed {
		t.Errorf("the trace: %+v", d)
	}
	if d.Records["task"] != 2 || d.Open["task"] != 1 || d.Lost["total"] != 3 || d.Lost["space"] != 3 || len(d.Gaps) != 1 || d.Gaps[0] != (gap{2000, 3000, 3, "space"}) {
		t.Errorf("records: %v, open %v, lost %v, gaps %v", d.Records, d.Open, d.Lost, d.Gaps)
	}
	if d.CPU["exact"] != 1 || d.Cost.OfCPU.Kind != report.Unknown || d.Cost.Measured.Kind != report.Unknown || d.GoTrace != nil || d.LastBeat["goroutines"] != 5 || d.Beats != 1 {
		t.Errorf("CPU %v, cost %+v, Go trace %v, last beat %v", d.CPU, d.Cost, d.GoTrace, d.LastBeat)
	}
	var b report.Text
	if r.Text(&b); !strings.Contains(b.String(), "3 records were lost") {
		t.Errorf("the text lacks the losses:\n%s", b.String())
	}
}

// TestCalls lists functions whose calls were not all recorded, with the reason.
func TestCalls(t *testing.T) {
	text := strings.Replace(lossy, "stop ticks=9000", "info \"budget\" \"3.0%\"\ninfo \"budget_exceeded\" \"7.5% of the CPU time went into recording: the budget could not be kept\"\ncalls ticks=8000 2:1000:2:-1 3:1:0:500\nunseen ticks=8000 2:1234567\nstop ticks=9000", 1)
	r, err := Of(context.Background(), tracetest.OpenText(t, text), &analysis.Selection{}, "x.scope", analysis.StateClosed)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Document.(*document)
	if len(d.Calls) != 2 || d.Calls[0] != (function{"f1", 1235567, 2, 1234567, analysis.Budget, report.Int{}}) || d.Calls[1].Name != "f2" || d.Calls[1].OffSince != report.Known[int64](6500, true) {
		t.Errorf("%+v", d.Calls)
	}
	var b report.Text
	r.Text(&b)
	for _, want := range []string{"2 functions not recorded at each call (≈1,240,000 calls missing)", "f1: ≈1,240,000 calls, 2 recorded", "f2: 1 call, 0 recorded", "none since 6.5", "could not be kept", analysis.Budget} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, b.String())
		}
	}
}

// TestLeftOut lists the reasons why functions were left out when the program was built. A malformed
// line is ignored.
func TestLeftOut(t *testing.T) {
	fact := `info "functions_left_out" "3\tthe compiler inlines it\tmain.a main.b main.c\n1200\tit is a few instructions\nx\ty\n7\n"`
	r, err := Of(context.Background(), tracetest.OpenText(t, strings.Replace(lossy, "stop ticks=9000", fact+"\nstop ticks=9000", 1)), &analysis.Selection{}, "x.scope", analysis.StateClosed)
	if err != nil {
		t.Fatal(err)
	}
	want := []leftOut{{"the compiler inlines it", 3, []string{"main.a", "main.b", "main.c"}}, {"it is a few instructions", 1200, []string{}}}
	if got := r.Document.(*document).LeftOut; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var b report.Text
	r.Text(&b)
	for _, want := range []string{
		"left out        3 left out when it was built: the compiler inlines it (main.a, main.b, main.c)\n",
		"                1,200 left out when it was built: it is a few instructions\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, b.String())
		}
	}
}

// TestInfoStops: if the context is cancelled, Of returns its error and no report.
func TestInfoStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Of(ctx, tracetest.OpenText(t, lossy), &analysis.Selection{}, "x.scope", analysis.StateClosed); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}
