package states

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const empty = "header\nstate closed=1 tick=9000\nchunk blocks\ncalib ticks=1000 mono=1000 wall=1700000000000000000\nstop ticks=9000\n"

// TestNoGoTrace: without a Go execution trace there is no report.
func TestNoGoTrace(t *testing.T) {
	r, err := Of(context.Background(), tracetest.OpenText(t, empty), &analysis.Selection{}, analysis.ByName, false)
	if r != nil || !errors.Is(err, gotrace.ErrNone) {
		t.Errorf("%v, %v", r, err)
	}
}

// TestStates: shares are relative to the time that is shown, and times that were not recorded are
// unknown.
func TestStates(t *testing.T) {
	total, self := analysis.StateTimes{}, analysis.StateTimes{}
	total[states.CPU], total[states.Lock] = 750, 250
	self[states.Lock] = 250
	r := &found{
		t: tracetest.OpenText(t, empty), by: analysis.ByName,
		facts:  &states.Facts{To: 1000, Goroutines: map[uint64]*states.Goroutine{7: {}}, SwitchesWhy: "nobody asked", Info: &gotrace.Info{Transitions: 1234}},
		groups: []group{groupOf(&analysis.StateGroup{Text: "parse", Count: 2, Total: total, Self: self}, analysis.ByName)},
	}
	for self, want := range map[bool]string{false: "parse 2 1.00µs 75% 25%", true: "parse 2 250ns 100%"} {
		r.self = self
		var b report.Text
		r.text(&b)
		got := strings.Join(strings.Fields(b.String()), " ")
		if !strings.HasSuffix(got, want) || !strings.Contains(got, "nobody asked") || !strings.Contains(got, "1 goroutine, whose state changed 1,234 times") {
			t.Errorf("self %v:\n%s", self, b.String())
		}
	}
	d := r.document()
	if d.Switches != nil || d.SwitchesWhy != "nobody asked" || d.Goroutines != 1 {
		t.Errorf("%+v", d)
	}
	var got struct {
		Groups []map[string]any
	}
	var b bytes.Buffer
	if err := report.WriteJSON(&b, "states", d, 0); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got.Groups) != 1 {
		t.Fatal(err, b.String())
	}
	g := got.Groups[0]
	all, own := g["states_ns"].(map[string]any), g["self_ns"].(map[string]any)
	if g["total_ns"] != 1000.0 || all["lock"] != 250.0 || own["cpu"] != 0.0 || len(all) != int(states.Count) || g["goroutine"] != nil {
		t.Errorf("%+v", g)
	}
}
