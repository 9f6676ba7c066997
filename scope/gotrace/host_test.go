//go:build !scope_off

package gotrace_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	exptrace "golang.org/x/exp/trace"

	reader "github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	scopetrace "github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// recording is a running recording.
type recording struct {
	t    *testing.T
	path string
}

// begin starts a recording with a heartbeat of 20 ms.
func begin(t *testing.T, opts ...scope.Option) *recording {
	t.Helper()
	r := &recording{t, filepath.Join(t.TempDir(), "x.scope")}
	opts = append([]scope.Option{scope.WithHeartbeat(20 * time.Millisecond), scope.WithFlushEvery(20 * time.Millisecond)}, opts...)
	if err := scope.Start(r.path, opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = scope.Stop() })
	return r
}

func (r *recording) stop() {
	r.t.Helper()
	if err := scope.Stop(); err != nil {
		r.t.Fatal(err)
	}
}

// fact returns the last value of a fact.
func (r *recording) fact(key string) string { return tracetest.OpenFile(r.t, r.path).Lookup(key) }

// becomes waits until a fact's value begins with words.
func (r *recording) becomes(key, words string) {
	r.t.Helper()
	var last string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		tr, err := scopetrace.OpenFile(r.path)
		if err != nil {
			r.t.Fatal(err)
		}
		last = tr.Lookup(key)
		tr.Close()
		if strings.HasPrefix(last, words) {
			return
		}
	}
	r.t.Fatalf("%s is %q, want %q", key, last, words)
}

// story reads a trace's Go execution traces, and checks that they have no problems.
func story(t *testing.T, path string) *reader.Info {
	t.Helper()
	info, err := reader.Read(tracetest.OpenFile(t, path), reader.Handler{})
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Problems) > 0 || info.Missing {
		t.Errorf("%q, missing %v", info.Problems, info.Missing)
	}
	return info
}

// works does some work that is visible in an execution trace and in scopes.
func works() {
	for range 20 {
		end := scope.Task("work")
		for from := time.Now(); time.Since(from) < 200*time.Microsecond; {
		}
		end()
		time.Sleep(100 * time.Microsecond)
	}
}

// isGoTrace checks that the program's own trace is complete.
func isGoTrace(t *testing.T, b *bytes.Buffer) {
	t.Helper()
	r, err := exptrace.NewReader(b)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		_, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("after %d events of the program's own trace: %v", n, err)
		}
		n++
	}
	if n < 10 {
		t.Errorf("the program's own trace has %d events", n)
	}
}

func TestAllOfIt(t *testing.T) {
	r := begin(t, gotrace.With())
	works()
	r.stop()
	tr := tracetest.OpenFile(t, r.path)
	for _, key := range []string{"gotrace", "gotrace_profile"} {
		if s := tr.Lookup(key); s != "on" {
			t.Errorf("%s: %q", key, s)
		}
	}
	if s := tr.Lookup("thread_switches"); s == "" || (s == "on") != tr.HasSwitches() {
		t.Errorf("thread_switches: %q, and there are some: %v", s, tr.HasSwitches())
	}
	info := story(t, r.path)
	if len(info.Stretches) != 1 || info.Transitions < 40 || info.Right < 20 {
		t.Errorf("%+v", info)
	}
}

func TestWithout(t *testing.T) {
	r := begin(t, gotrace.With(gotrace.WithoutProfile(), nil, gotrace.WithoutSwitches()))
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Error(err)
	}
	pprof.StopCPUProfile()
	r.stop()
	tr := tracetest.OpenFile(t, r.path)
	for _, key := range []string{"gotrace_profile", "thread_switches"} {
		if s := tr.Lookup(key); !strings.HasPrefix(s, "off: switched off by the program") {
			t.Errorf("%s: %q", key, s)
		}
	}
	if tr.HasSwitches() {
		t.Error("there are switches")
	}
	story(t, r.path)
}

// TestHostFirst: the program's own trace and profile run when the recording begins.
func TestHostFirst(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	r := begin(t, gotrace.With())
	works()
	r.becomes("gotrace", "off: the program takes an execution trace itself: ")
	r.becomes("gotrace_profile", "off: the program takes a CPU profile itself: ")
	trace.Stop()
	r.becomes("gotrace", "on")
	r.becomes("gotrace_profile", "off")
	pprof.StopCPUProfile()
	r.becomes("gotrace_profile", "on")
	works()
	r.stop()
	isGoTrace(t, &b)
	if info := story(t, r.path); len(info.Stretches) != 1 || info.From < int64(10*time.Millisecond) {
		t.Errorf("%+v", info)
	}
}

// TestYield: the program asks for what the recording has taken.
func TestYield(t *testing.T) {
	r := begin(t, gotrace.With())
	works()
	if trace.Start(io.Discard) == nil || pprof.StartCPUProfile(io.Discard) == nil {
		t.Fatal("they were free")
	}
	release, second := gotrace.Yield(), gotrace.Yield()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	works()
	r.becomes("gotrace", "off: yielded to the program")
	r.becomes("gotrace_profile", "off: yielded to the program")
	trace.Stop()
	pprof.StopCPUProfile()
	isGoTrace(t, &b)
	release()
	release() // does nothing: the second still holds
	time.Sleep(60 * time.Millisecond)
	if s := r.fact("gotrace"); s == "on" {
		t.Error("taken again before it was released")
	}
	second()
	r.becomes("gotrace", "on")
	r.becomes("gotrace_profile", "on")
	works()
	r.stop()
	if info := story(t, r.path); len(info.Stretches) != 2 || info.Right < 40 {
		t.Errorf("%+v", info)
	}
}

// TestYieldBefore yields while nothing is recorded.
func TestYieldBefore(t *testing.T) {
	release := gotrace.Yield()
	r := begin(t, gotrace.With())
	if trace.IsEnabled() {
		t.Error("taken though it was yielded")
	}
	release()
	r.becomes("gotrace", "on")
	r.stop()
	gotrace.Yield()()
}

// TestHostStops: the program stops what is not its own.
func TestHostStops(t *testing.T) {
	r := begin(t, gotrace.With())
	works()
	trace.Stop()
	pprof.StopCPUProfile()
	r.becomes("gotrace_ended", "once, because the program called trace.Stop")
	r.becomes("gotrace", "on")
	r.becomes("gotrace_profile", "on")
	works()
	r.stop()
	if trace.IsEnabled() {
		t.Error("the trace still runs")
	}
	if info := story(t, r.path); len(info.Stretches) != 2 {
		t.Errorf("%+v", info)
	}
}

// TestHostReplaces: the program stops ours and starts its own before a heartbeat
// notices: Stop must not stop what is running then.
func TestHostReplaces(t *testing.T) {
	r := begin(t, gotrace.With(), scope.WithHeartbeat(time.Hour))
	works()
	trace.Stop()
	pprof.StopCPUProfile()
	var b, p bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	if err := pprof.StartCPUProfile(&p); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	works()
	r.stop()
	if !trace.IsEnabled() {
		t.Error("the program's own trace was stopped")
	}
	if pprof.StartCPUProfile(io.Discard) == nil {
		t.Error("the program's own profile was stopped")
	}
	works()
	trace.Stop()
	pprof.StopCPUProfile()
	isGoTrace(t, &b)
	if p.Len() == 0 {
		t.Error("the program's own profile is empty")
	}
	if info := story(t, r.path); len(info.Stretches) != 1 {
		t.Errorf("%+v", info)
	}
}

// TestTwice passes the option twice, and uses it for two recordings.
func TestTwice(t *testing.T) {
	o := gotrace.With()
	for range 2 {
		r := begin(t, o, gotrace.With())
		works()
		r.stop()
		if info := story(t, r.path); len(info.Stretches) != 1 || len(tracetest.OpenFile(t, r.path).GoTraces()) != 1 {
			t.Errorf("%+v", info)
		}
	}
}

// TestStopLeavesNothing looks for what was started and not ended.
func TestStopLeavesNothing(t *testing.T) {
	goroutines := func() string {
		var b bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&b, 2); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	r := begin(t, gotrace.With())
	works()
	r.stop()
	if trace.IsEnabled() {
		t.Error("the trace still runs")
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Error(err)
	}
	pprof.StopCPUProfile()
	var left string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		left = goroutines()
		if !strings.Contains(left, "scopeview/scope.") && !strings.Contains(left, "scopeview/internal/perf") && !strings.Contains(left, "runtime/trace.") {
			return
		}
	}
	t.Errorf("goroutines are left:\n%s", left)
}

func TestMain(m *testing.M) {
	if what := os.Getenv("GOTRACE_VICTIM"); what != "" {
		victim(what)
		return
	}
	os.Exit(shmtest.Run(m.Run))
}
