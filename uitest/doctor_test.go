package uitest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// doctors is the part of the doctor's report that the tests look at.
type doctors struct {
	Findings []struct {
		Verdict, Object, Text string
		Confidence            float64
		Worst                 *struct {
			Goid float64
			From float64 `json:"from_ns"`
			To   float64 `json:"to_ns"`
		}
	}
	Paths []struct {
		Of     string
		WhatIf []struct {
			Name string
			Gain float64
		} `json:"what_if"`
	} `json:"critical_path"`
}

// often is the program contend with so many waits that the doctor is sure, and what it says.
// Where other load puts the states in doubt it is recorded again.
var often = sync.OnceValues(func() (report doctors, err error) {
	path := oftenPath()
	for range 8 {
		os.Remove(path)
		if err := traces.Record(path, "contend", 12); err != nil {
			return report, err
		}
		out, err := cmd.Run("doctor", path, "--json")
		if err != nil {
			return report, err
		}
		report = doctors{}
		if err := json.Unmarshal(out, &report); err != nil {
			return report, err
		}
		if f := report.Findings; len(f) > 0 && f[0].Worst != nil && f[0].Confidence >= 0.7 {
			return report, nil
		}
	}
	return report, fmt.Errorf("the doctor is not sure of a lock that is held asleep: %+v", report)
})

func oftenPath() string { return filepath.Join(dir, "often.scope") }

func diagnosed(t *testing.T) doctors {
	t.Helper()
	report, err := often()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestDoctorFirst: on opening the page shows the confident findings of the doctor, and a
// button leads to the longest wait: one wait, not a range.
func TestDoctorFirst(t *testing.T) {
	browsers(t, func(t *testing.T) {
		f, trace := diagnosed(t).Findings[0], oftenPath()
		for home, address := range map[string]string{"file": fileURL(pageOf(t, trace)), "served": serve(t, trace)} {
			tb := show(t, address, browser.View{})
			tb.await(`document.querySelector("#banner .doctor")`)
			if says := tb.text("#banner .doctor"); !strings.Contains(says, f.Text) {
				t.Errorf("%s: the banner says %q, want %q", home, says, f.Text)
			}
			tb.read(nil, `document.querySelector("#banner .doctor button").focus()`)
			tb.press("Enter")
			tb.await("scopeview.selection !== null")
			if s := tb.selected(); s.Start != f.Worst.From || s.Dur != f.Worst.To-f.Worst.From || s.Name != f.Object {
				t.Errorf("%s: the longest wait is %+v, want %+v of %s", home, s, f.Worst, f.Object)
			}
			if v := tb.view(); v.From > f.Worst.From || v.To < f.Worst.To || v.width() > 4*(f.Worst.To-f.Worst.From) {
				t.Errorf("%s: it is shown in %v", home, v)
			}
		}
	})
}

// TestDoctorSilent: for a healthy program the page shows no finding.
func TestDoctorSilent(t *testing.T) {
	tb := showTrace(t, record(t, "one", 0), browser.View{})
	if s := tb.text("#banner .doctor"); s != "" {
		t.Errorf("it says %q", s)
	}
}

// TestCriticalPath: it is drawn on the rows, also from a link; the gain of a shorter scope
// is shown for each quarter.
func TestCriticalPath(t *testing.T) {
	browsers(t, func(t *testing.T) {
		diagnosed(t)
		tb := showTrace(t, oftenPath(), browser.View{Dark: true})
		if n := tb.number("scopeview.drawn.path"); n != 0 {
			t.Errorf("%v steps of the path are drawn unasked", n)
		}
		tb.press("KeyI")
		steps := tb.number(`scopeview.model.doctor.critical_path.find((p) => p.of === "").steps.length`)
		if n := tb.number("scopeview.drawn.path"); n < 3 || n > steps {
			t.Errorf("%v of %v steps are drawn", n, steps)
		}
		tb.await(`new URLSearchParams(location.hash.slice(1)).get("path") === "on"`)
		tb.press("Digit7")
		faultless(t, tb, "the doctor, with the path")
		tb.press("KeyI")
		if n := tb.number("scopeview.drawn.path"); n != 0 {
			t.Errorf("i does not take it away: %v steps", n)
		}
	})
}

// TestWhatIf: the slider shows the replayed gains for a quarter less, and for all of it.
func TestWhatIf(t *testing.T) {
	trace := slowTrace(t)
	tb := showTrace(t, trace, browser.View{})
	tb.press("Digit7")
	var gains []float64
	tb.read(&gains, `(({partly, gain}) => [...partly, gain])(scopeview.model.doctor.critical_path[0].what_if[0])`)
	out, err := cmd.Run("doctor", trace, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var report doctors
	check(t, json.Unmarshal(out, &report))
	if x := report.Paths[0].WhatIf[0]; x.Gain != gains[3] || gains[0] <= 0 || gains[0] >= gains[3] {
		t.Errorf("a quarter, a half, three and all of it gain %v; the doctor says %v of all", gains, x)
	}
	tb.read(nil, `document.querySelector("#panel .what-if input").focus()`)
	says(t, tb, "#panel .what-if", "unchanged")
	tb.press("ArrowRight")
	says(t, tb, "#panel .what-if", fmt.Sprintf("−25%%: the run takes %v less", percent(tb, gains[0])))
	faultless(t, tb, "what if")
}

// percent formats a share like the page.
func percent(tb *tab, share float64) (s string) {
	tb.t.Helper()
	tb.read(&s, `(() => { const p = 100 * %v; return (p < 9.95 && !Number.isInteger(p) ? p.toFixed(1) : Math.round(p)) + "%%"; })()`, share)
	return s
}
