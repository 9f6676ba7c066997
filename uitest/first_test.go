package uitest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/long"
	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/tool"
	"github.com/scopeview/scopeview/uitest/traces"
)

// top is the output of scopeview top --json.
type top struct {
	Scopes []topScope
	Locks  []topLock
}

type topScope struct {
	Name    string
	Process bool
	Count   float64
	Total   float64  `json:"total_ns"`
	Self    *float64 `json:"self_ns"`
	Mean    *float64 `json:"mean_ns"`
	Min     *float64 `json:"min_ns"`
	P50     *float64 `json:"p50_ns"`
	P99     *float64 `json:"p99_ns"`
	Max     *float64 `json:"max_ns"`
	CPU     *float64 `json:"cpu_ns"`
}

type topLock struct {
	Name   string
	Waits  int
	Wait   float64 `json:"wait_ns"`
	HeldBy []struct {
		Name  *string
		Share float64
	} `json:"held_by"`
}

func topOf(t *testing.T, trace string) (v top) {
	t.Helper()
	if err := cmd.JSON(&v, "top", "--json", trace); err != nil {
		t.Fatal(err)
	}
	return v
}

// shown returns the length of the bars of waits in the first picture.
const shown = `(() => {
	const a = window.scopeview, scale = document.querySelector("#rows canvas").clientWidth / (a.view.to - a.view.from);
	let sum = 0;
	for (const row of a.model.rows("goroutine")) for (const lane of row.lanes) {
		a.model.eachBar(lane, a.view.from, a.view.to, 1 / scale, ({ batch, i, t0, t1 }) => { if (batch.kind[i] === 6) sum += t1 - t0; });
	}
	return sum;
})()`

// TestFirstSight: without any input the page shows where the time went, and the waits with
// their causes.
func TestFirstSight(t *testing.T) {
	trace := storeTrace(t)
	tb := showTrace(t, trace, browser.View{})
	seesHeartAndLock(t, tb, trace, traces.Holder)
	rows := tb.rowNames()
	for _, want := range []string{"worker 1", "worker 4"} {
		if !slices.Contains(rows, want) {
			t.Errorf("no row is called %s: %q", want, rows)
		}
	}
	var nested int
	tb.read(&nested, "Math.max(...scopeview.model.rows('goroutine').map((r) => r.depth))")
	if nested < 3 {
		t.Errorf("scopes are %d deep, want 3", nested)
	}
}

// TestFirstSightOfTheDemo: the same of the demo's program.
func TestFirstSightOfTheDemo(t *testing.T) {
	long.Skip(t, "records and shows a second program")
	gostats, err := tool.Build(t.TempDir(), "./examples/gostats")
	if err != nil {
		t.Fatal(err)
	}
	trace := pathOf(t, "gostats.scope")
	if _, err := gostats.Run("-workers", "8", "-limit-files", "3000", "-trace", trace); err != nil {
		t.Fatal(err)
	}
	tb := showTrace(t, trace, browser.View{})
	seesHeartAndLock(t, tb, trace, "count")
}

func seesHeartAndLock(t *testing.T, tb *tab, trace, holder string) {
	t.Helper()
	if b := tb.box("#heart"); b.Width < 500 || b.Height < 30 || b.Y > browser.Height/2 {
		t.Errorf("the heartbeat is not in sight: %+v", b)
	}
	top := topOf(t, trace)
	if len(top.Locks) == 0 || top.Locks[0].Waits == 0 {
		t.Fatal("nobody waited in this trace")
	}
	if got, want := tb.number(shown), top.Locks[0].Wait; math.Abs(got-want) > 0.05*want {
		t.Errorf("the waits in sight are %.0f ns together, scopeview top says %.0f", got, want)
	}
	var drawn struct {
		Labels []struct{ Label, Row string }
		Waits  int
	}
	tb.read(&drawn, "scopeview.drawn")
	if drawn.Waits == 0 {
		t.Error("no wait is drawn")
	}
	has := func(part string) bool {
		return slices.ContainsFunc(drawn.Labels, func(l struct{ Label, Row string }) bool { return strings.HasPrefix(l.Label, part) })
	}
	if !has(holder) {
		t.Errorf("the label %s of the scope that held the lock is not drawn: %v", holder, drawn.Labels)
	}
	if !has("wait ") {
		t.Errorf("no wait has a label: %v", drawn.Labels)
	}
}
