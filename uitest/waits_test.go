package uitest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// contended is the trace of the program contend, with its Go execution trace.
var contended = sync.OnceValues(func() (string, error) {
	path := filepath.Join(dir, "contend.scope")
	return path, traces.Record(path, "contend", 2)
})

func contendedTrace(t *testing.T) string {
	t.Helper()
	path, err := contended()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// colorAt returns the colour that most of the picture has beside a place in the window: where the
// pointer's line is not, and of a few pixels, since the edge of a letter may cover one.
func (tb *tab) colorAt(x, y float64) (rgb [3]float64) {
	tb.t.Helper()
	tb.read(&rgb, `(() => {
		const c = document.querySelector(%s), b = c.getBoundingClientRect(), k = c.width / b.width;
		const data = c.getContext("2d").getImageData(Math.round((%v + 4 - b.x) * k), Math.round((%v - b.y) * k) - 1, 9, 3).data;
		const colors = Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 3).join());
		const most = (c) => colors.filter((x) => x === c).length;
		return colors.reduce((a, b) => most(b) > most(a) ? b : a).split(",").map(Number);
	})()`, quote(canvas), x, y)
	return rgb
}

// colorOf is a colour of the page's style, such as --state-lock.
func (tb *tab) colorOf(name string) (rgb [3]float64) {
	tb.t.Helper()
	var hex string
	tb.read(&hex, "getComputedStyle(document.documentElement).getPropertyValue(%s).trim()", quote(name))
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		tb.t.Fatalf("%s is %q", name, hex)
	}
	return [3]float64{float64(v >> 16), float64(v >> 8 & 255), float64(v & 255)}
}

func alikeColors(a, b [3]float64) bool {
	return math.Abs(a[0]-b[0])+math.Abs(a[1]-b[1])+math.Abs(a[2]-b[2]) < 12
}

// checkStates: at every zoom the strip under the wait is orange, with the name of the state.
func checkStates(t *testing.T, tb *tab) {
	t.Helper()
	want := tb.find(traces.Want, "")
	middle := want.Start + want.Dur/2
	if n := tb.number("scopeview.drawn.states"); n < 3 {
		t.Fatalf("%v states are drawn", n)
	}
	tb.press("KeyE") // thicker ones
	x, y := tb.seek(middle, "waiting for a lock")
	if got, orange := tb.colorAt(x, y), tb.colorOf("--state-lock"); !alikeColors(got, orange) {
		t.Errorf("the strip is %v where its row waits for a lock, want %v", got, orange)
	}
	for _, says := range []string{"reason", "sync", "traces.contend", "woken by", traces.Starved} {
		if s := tb.popup(); !strings.Contains(s, says) {
			t.Errorf("the pop-up of a wait does not say %q: %q", says, s)
		}
	}
	tb.check(tb.Click(x, y))
	tb.settle()
	says(t, tb, "#panel", "waiting for a lock", "traces.contend", "Woken by")
	if x, y = tb.seek(middle, "sleeping"); !alikeColors(tb.colorAt(x, y), tb.colorOf("--state-sleep")) {
		t.Errorf("the strip of a sleeping goroutine is %v", tb.colorAt(x, y))
	}
	tb.press("Escape", "KeyE")
	if n := tb.number("scopeview.drawn.states"); n > 0 {
		t.Errorf("e does not hide the strips: %v are drawn", n)
	}
	tb.await(`new URLSearchParams(location.hash.slice(1)).get("states") === "off"`)
	tb.press("KeyE")
}

// checkLocks: there is a row for the lock, with its holders and the number of waiting
// goroutines.
func checkLocks(t *testing.T, tb *tab) {
	t.Helper()
	want := tb.find(traces.Want, "")
	var there bool
	if tb.read(&there, "scopeview.rows.revealLock(%s, '')", quote(traces.Lock)); !there {
		t.Fatalf("there is no row for the lock: %q", tb.rowNames())
	}
	tb.settle()
	if n := tb.number("scopeview.drawn.holds"); n < 1 {
		t.Errorf("%v holds are drawn", n)
	}
	x, _ := tb.seek(want.Start+want.Dur/2, "at once")
	for _, says := range []string{traces.Hoarder + ", in " + traces.Hoard, "waiting", strconv.Itoa(traces.Starving), "mutex"} {
		if s := tb.popup(); !strings.Contains(s, says) {
			t.Errorf("at %v the lock's row does not say %q: %q", x, says, s)
		}
	}
	tb.press("KeyK")
	head := func(row string) bool { return strings.HasPrefix(row, "Locks") }
	if rows := tb.rowNames(); slices.ContainsFunc(rows, head) {
		t.Errorf("k does not hide the locks: %q", rows)
	}
	tb.press("KeyK")
	if rows := tb.rowNames(); !slices.ContainsFunc(rows, head) {
		t.Errorf("k does not show the locks again: %q", rows)
	}
	tb.read(nil, "document.getElementById('rows').scrollTop = 0")
	tb.settle()
}

func TestWaits(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, contendedTrace(t), browser.View{})
		checkStates(t, tb)
		checkLocks(t, tb)
		// A wait's details have the holder of the lock.
		wait := tb.find(traces.Want, "")
		x, y := tb.seek(wait.Start+wait.Dur/2, "wait for "+traces.Lock)
		tb.check(tb.Click(x, y))
		tb.settle()
		says(t, tb, "#panel", "States of its goroutine", "waiting for a lock", traces.Hoarder)
	})
}

// TestWaitsLive: a page that is served has all that a file has.
func TestWaitsLive(t *testing.T) {
	tb := show(t, serve(t, contendedTrace(t)), browser.View{Dark: true})
	tb.await("scopeview.drawn.states > 2 && scopeview.model.waits.locks.length > 0")
	checkStates(t, tb)
	checkLocks(t, tb)
	tb.press("Digit7")
	tb.await(`document.querySelectorAll("#panel .findings .verdict").length > 0`)
}

// TestWaitsGrow: states and locks come while the program runs.
func TestWaitsGrow(t *testing.T) {
	trace := pathOf(t, "grows.scope")
	_, out := startProgram(t, trace, "contend", 10_000)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the program says nothing")
	}
	go func() {
		for lines.Scan() { // otherwise it would block on its output
		}
	}()
	tb := show(t, serve(t, trace), browser.View{})
	// At the live end they lag: the runtime writes its trace once a second.
	tb.read(nil, "(scopeview.setFollow(false), scopeview.setView(0, 1e9), 0)")
	tb.check(tb.Wait("scopeview.growing && scopeview.model.waits.any && scopeview.model.waits.locks.length > 0", 30*time.Second))
	const last = "Math.max(...[...scopeview.model.waits.states.lanes.values()].map((l) => l.last))"
	first := tb.number(last)
	tb.read(nil, "(scopeview.setView(0, scopeview.model.end), 0)")
	tb.check(tb.Wait(fmt.Sprintf("%s > %v", last, first), 30*time.Second))
}

// TestDoctorTab: a finding leads to its place, and so does its address.
func TestDoctorTab(t *testing.T) {
	browsers(t, func(t *testing.T) {
		trace := contendedTrace(t)
		out, err := cmd.Run("doctor", trace, "--json")
		if err != nil {
			t.Fatal(err)
		}
		var report struct {
			Findings []struct {
				Verdict, Object, Text string
				From                  float64 `json:"from_ns"`
				To                    float64 `json:"to_ns"`
			}
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Findings) == 0 {
			t.Fatalf("the doctor finds nothing wrong with a lock that is held asleep: %v\n%s", err, out)
		}
		f := report.Findings[0]
		html := fileURL(pageOf(t, trace))
		tb := show(t, html, browser.View{})
		tb.press("Digit7", "Tab", "Tab")
		says(t, tb, "#panel", f.Text, "gain", "confidence")
		arrived := func(how string) {
			t.Helper()
			var r span
			tb.await("scopeview.range !== null")
			tb.read(&r, "({from: scopeview.range.from, to: scopeview.range.to})")
			if v := tb.view(); r.From != f.From || r.To != f.To || v.From > f.From || v.To < f.To {
				t.Errorf("%s leads to %v, shown in %v; want %v to %v", how, r, v, f.From, f.To)
			}
			if b, s := tb.box("#rows"), tb.box("#rows .label.lock"); s.Y+s.Height < b.Y || s.Y > b.Y+b.Height {
				t.Errorf("%s does not show the lock's row: it is at %+v of %+v", how, s, b)
			}
		}
		tb.read(nil, `document.querySelector("#panel .findings .verdict").focus()`)
		tb.press("Enter")
		arrived("Enter")
		tb.await(`location.hash.includes("finding")`)
		tb = show(t, html+"#"+url.Values{"tab": {"doctor"}, "finding": {f.Verdict + ":" + f.Object}}.Encode(), browser.View{})
		arrived("the address")
		// Of a trace without a Go execution trace it says what it could not look for.
		tb = showTrace(t, storeTrace(t), browser.View{})
		tb.press("Digit7")
		says(t, tb, "#panel", "Not examined", "gotrace")
	})
}
