package uitest

import (
	"bufio"
	"io"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// serve runs scopeview serve until the test's end and returns its URL.
func serve(t *testing.T, trace string) string {
	t.Helper()
	return serveWith(t, trace)
}

// serveWith is serve with more arguments.
func serveWith(t *testing.T, args ...string) string {
	t.Helper()
	s, err := cmd.Serve(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.URL
}

// watchTicks makes the page note when it had how many of the scopes called tick.
const watchTicks = `
window.seen = [];
(function look() {
	const n = test.counts().tick || 0, now = Date.now();
	while (seen.length < n) seen.push(now);
	setTimeout(look, 10);
})();
0`

// startProgram starts a program of traces, which is ended with the test, and returns what it prints.
func startProgram(t *testing.T, trace, name string, size int) (*exec.Cmd, io.Reader) {
	t.Helper()
	child, out, err := traces.Start(trace, name, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	return child, out
}

// startTicks starts the program that records scopes called tick, and returns a
// channel of when they were recorded, in ns of Unix time.
func startTicks(t *testing.T, n int) (trace string, child *exec.Cmd, times <-chan int64) {
	t.Helper()
	trace = pathOf(t, "ticks.scope")
	child, out := startProgram(t, trace, "ticks", n)
	c := make(chan int64, n)
	go readTimes(out, c)
	return trace, child, c
}

func readTimes(r io.Reader, c chan<- int64) {
	defer close(c)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		ns, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return
		}
		c <- ns
	}
}

// TestLive: scopes of a running program are in the picture at most a second after they were
// recorded; when the program is killed the page reports that and keeps its data.
func TestLive(t *testing.T) {
	const late, watched = time.Second, 100
	trace, child, recorded := startTicks(t, 200)
	first := <-recorded // now there is a trace
	times := []int64{first}
	tb := show(t, serve(t, trace), browser.View{})
	tb.read(nil, watchTicks)
	from := int(tb.number("seen.length")) // those were there when it opened
	for len(times) < from+watched {
		ns, ok := <-recorded
		if !ok {
			t.Fatalf("the program ended after %d scopes", len(times))
		}
		times = append(times, ns)
	}
	tb.await("seen.length >= %d", len(times))
	var seen []float64
	tb.read(&seen, "seen")
	var worst time.Duration
	tardy := 0
	for i := from; i < len(times); i++ {
		lag := time.Duration(seen[i]*1e6) - time.Duration(times[i])
		worst = max(worst, lag)
		if lag > late {
			tardy++
		}
	}
	t.Logf("the slowest of %d scopes was there %v after it was recorded", len(times)-from, worst.Round(time.Millisecond))
	if tardy > 0 {
		t.Errorf("%d of %d scopes took longer than %v, the slowest %v", tardy, len(times)-from, late, worst)
	}
	if s := tb.text("#first"); !strings.Contains(strings.ToLower(s), "recording") {
		t.Errorf("the first line does not say that the trace is being recorded: %q", s)
	}
	stays(t, tb)
	dies(t, tb, child)
}

// stays checks that the picture follows the end until the user moves away.
func stays(t *testing.T, tb *tab) {
	t.Helper()
	tb.press("End")
	tb.await("scopeview.follow")
	was := tb.number("scopeview.view.to")
	tb.await("scopeview.view.to > %v", was)
	tb.press("KeyW", "KeyA", "KeyA")
	v := tb.view()
	end := tb.number("scopeview.model.end")
	tb.await("scopeview.model.end > %v", end)
	if is := tb.view(); is != v {
		t.Errorf("the view moved by itself from %v to %v", v, is)
	}
	tb.press("KeyZ")
	tb.await("scopeview.follow")
}

// dies kills the program and looks at what is left.
func dies(t *testing.T, tb *tab, child *exec.Cmd) {
	t.Helper()
	before := tb.number("test.counts().tick")
	if before == 0 {
		t.Fatal("no ticks")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	tb.await(`/without Stop|killed/i.test(document.getElementById("first").innerText)`)
	if after := tb.number("test.counts().tick"); after < before {
		t.Errorf("%v scopes are left of %v", after, before)
	}
	end := tb.number("scopeview.model.end")
	time.Sleep(300 * time.Millisecond)
	if is := tb.number("scopeview.model.end"); is != end {
		t.Errorf("the trace still grows: from %v to %v", end, is)
	}
	tb.press("Digit0")
	tb.settle()
	if n := tb.number("scopeview.drawn.bars"); n == 0 {
		t.Error("nothing is drawn any more")
	}
}

// everything lists all scopes of the model by row, depth and start.
const everything = `(() => {
	const all = [];
	test.each((batch, i, row, lane) => all.push({
		what: [row.title, lane.depth, test.name(batch, i), batch.kind[i], batch.strings[batch.args[i]]].join(" "), row: row.key, depth: lane.depth, start: batch.start[i], dur: batch.dur[i],
	}));
	return all.sort((a, b) => a.row - b.row || a.depth - b.depth || a.start - b.start);
})()`

// TestLiveBecomesTheFile: what a page has gathered piece by piece while the
// program ran is, when it has ended, what the trace's file holds.
func TestLiveBecomesTheFile(t *testing.T) {
	trace := pathOf(t, "store.scope")
	child, _, err := traces.Start(trace, "store", 500)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	time.Sleep(500 * time.Millisecond) // so that some of it is there when it is opened
	live := show(t, serve(t, trace), browser.View{})
	if err := child.Wait(); err != nil && child.ProcessState.ExitCode() != traces.Stalled {
		t.Fatal(err)
	}
	live.await("scopeview.model.meta.writer === 'closed'")
	file := showTrace(t, trace, browser.View{})
	var want, got []listed
	file.read(&want, everything)
	for deadline := time.Now().Add(3 * time.Second); len(got) != len(want) && time.Now().Before(deadline); {
		live.settle()
		live.read(&got, everything)
	}
	t.Logf("live there are %d scopes, in the file %d", len(got), len(want))
	differ(t, "in the file and not in the live page", want, got)
	differ(t, "in the live page and not in the file", got, want)
	const depths = "scopeview.model.rows('goroutine').map((r) => r.title + ': ' + r.depth).sort()"
	var wantDepths, gotDepths []string
	file.read(&wantDepths, depths)
	live.read(&gotDepths, depths)
	if !slices.Equal(gotDepths, wantDepths) {
		t.Errorf("live the rows are %q deep, in the file %q", gotDepths, wantDepths)
	}
}

// listed is a scope as everything lists it.
type listed struct {
	What       string // row, depth, name, arguments
	Start, Dur float64
}

// differ reports the scopes that are in a and not in b, or more often in a than
// in b.
func differ(t *testing.T, what string, a, b []listed) {
	t.Helper()
	// Until the next calibration times are extrapolated, in the first second with an error of
	// some µs, and the page keeps them.
	const tolerance = 5000
	in := make(map[string][]listed)
	for _, s := range b {
		in[s.What] = append(in[s.What], s)
	}
	n := 0
	for _, s := range a {
		i := slices.IndexFunc(in[s.What], func(o listed) bool {
			return math.Abs(o.Start-s.Start) <= tolerance && math.Abs(o.Dur-s.Dur) <= tolerance
		})
		if i >= 0 {
			in[s.What] = slices.Delete(in[s.What], i, i+1)
		} else if n++; n < 5 {
			t.Errorf("%s: %+v", what, s)
		}
	}
	if n > 0 {
		t.Errorf("%s: %d in all", what, n)
	}
}

// TestServerEnds: a page without its server reports that and stays usable.
func TestServerEnds(t *testing.T) {
	trace, _, recorded := startTicks(t, 500)
	<-recorded
	s, err := cmd.Serve(trace)
	if err != nil {
		t.Fatal(err)
	}
	tb := show(t, s.URL, browser.View{})
	tb.await("test.counts().tick > 3")
	s.Close()
	tb.await(`/lost|gone|connection/i.test(document.getElementById("banner").innerText)`)
	tb.press("Digit0", "KeyW")
	if n := tb.number("scopeview.drawn.bars"); n == 0 {
		t.Error("nothing is drawn any more")
	}
	tb.Forgive() // the browser reports every failed request
}

// TestDirectory: serve of a directory lists its traces, and each opens.
func TestDirectory(t *testing.T) {
	trace := record(t, "one", 0)
	url := serve(t, strings.TrimSuffix(trace, "one.scope"))
	tb := open(t, url, browser.View{})
	tb.await(`document.body.innerText.includes("one.scope")`)
	tb.read(nil, `Array.from(document.links).find((a) => a.textContent.includes("one")).click()`)
	tb.check(tb.Ready(patient))
}
