//go:build !scope_off

package gotrace_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	reader "github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// TestRing takes snapshots of a ring: each has the Go execution trace of the time before
// it, and what two of them have in common is read once.
func TestRing(t *testing.T) {
	r := begin(t, gotrace.With(), scope.WithRing(4*scope.MinRing)) // a slow disk makes room late
	r.becomes("gotrace", "on (flight recorder)")
	dir := t.TempDir()
	var before int64
	for i := range 3 {
		works()
		path := filepath.Join(dir, fmt.Sprint(i, ".scope"))
		if err := scope.Snapshot(path); err != nil {
			t.Fatal(err)
		}
		tr := tracetest.OpenFile(t, path)
		info := story(t, path)
		if len(tr.GoTraces()) != i+1 || !noHole(info) || info.Transitions <= before || info.Right == 0 {
			t.Errorf("snapshot %d: %d streams, %+v", i, len(tr.GoTraces()), info)
		}
		if late := tr.End() - info.To; late > int64(5*time.Second) {
			t.Errorf("snapshot %d: the last %v are missing", i, time.Duration(late))
		}
		before = info.Transitions
	}
	works()
	r.stop()
	if info := story(t, r.path); !noHole(info) || info.Transitions <= before {
		t.Errorf("at the end: %+v", info)
	}
}

// noHole reports whether each span begins where the previous one ends, or has the full
// ten seconds that the flight recorder keeps: on a slow machine more time may have
// passed.
func noHole(info *reader.Info) bool {
	for _, s := range info.Stretches[1:] {
		if s.To-s.From < int64(10*time.Second) {
			return false
		}
	}
	return len(info.Stretches) > 0
}

// TestTrigger: a slow scope triggers a snapshot, which has the states of the time before.
func TestTrigger(t *testing.T) {
	dir := t.TempDir()
	r := begin(t, gotrace.With(), scope.WithRing(scope.MinRing), scope.WithTrigger("slow", 30*time.Millisecond, dir))
	works()
	end := scope.Task("slow")
	time.Sleep(50 * time.Millisecond)
	end()
	var found []string
	for limit := time.Now().Add(10 * time.Second); len(found) == 0 && time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		found, _ = filepath.Glob(filepath.Join(dir, "*-slow-*.scope"))
	}
	r.stop()
	if len(found) != 1 {
		t.Fatalf("snapshots: %v", found)
	}
	slept := false
	info, err := reader.Read(tracetest.OpenFile(t, found[0]), reader.Handler{Transition: func(x *reader.Transition) { slept = slept || x.Reason == "sleep" }})
	if err != nil || len(info.Problems) > 0 || !slept {
		t.Errorf("%v, %+v, slept: %v", err, info, slept)
	}
}

// TestRingYield gives the flight recorder to the program, and keeps what it had recorded.
func TestRingYield(t *testing.T) {
	r := begin(t, gotrace.With(), scope.WithRing(scope.MinRing))
	works()
	release := gotrace.Yield()
	r.becomes("gotrace", "off: yielded to the program")
	release()
	r.becomes("gotrace", "on (flight recorder)")
	works()
	r.stop()
	if info := story(t, r.path); len(info.Stretches) != 2 {
		t.Errorf("%+v", info)
	}
}

// victim runs in a process of its own, where Go's tracer ends a generation every 50 ms,
// until it is killed.
func victim(limit string) {
	n, err := strconv.ParseInt(limit, 10, 64)
	if err != nil {
		panic(err)
	}
	err = scope.Start(os.Args[len(os.Args)-1], gotrace.With(gotrace.WithoutSwitches()), scope.WithLimit(n),
		scope.WithHeartbeat(20*time.Millisecond), scope.WithFlushEvery(20*time.Millisecond))
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		works()
		if i == 20 {
			fmt.Println("ready")
		}
		for range 1000 {
			runtime.Gosched()
		}
	}
}

// run starts a victim and returns when it has worked for a while.
func run(t *testing.T, limit int64) (cmd *exec.Cmd, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.scope")
	cmd = exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), fmt.Sprint("GOTRACE_VICTIM=", limit), "GODEBUG=traceadvanceperiod=50000000")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if s, err := bufio.NewReader(out).ReadString('\n'); s != "ready\n" {
		t.Fatalf("it said %q: %v", s, err)
	}
	return cmd, path
}

// TestKilled kills a program: what Go's tracer had written is there.
func TestKilled(t *testing.T) {
	cmd, path := run(t, scope.NoLimit)
	has := func() bool {
		info, err := reader.Read(tracetest.OpenFile(t, path), reader.Handler{})
		return err == nil && info.Right >= 20
	}
	for end := time.Now().Add(10 * time.Second); !has() && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	tr := tracetest.OpenFile(t, path)
	info, err := reader.Read(tr, reader.Handler{})
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Stretches) != 1 || info.Right < 20 || info.To > tr.End() || info.From > int64(time.Second) {
		t.Errorf("%+v", info)
	}
	if late := time.Duration(tr.End() - info.To); late > 3*time.Second {
		t.Errorf("the last %v are missing", late)
	}
	for _, p := range info.Problems {
		if !strings.Contains(p, "its end is missing: the program was killed") {
			t.Error(p)
		}
	}
}

// TestNoRoom: the trace reaches its limit. What was written before is valid, and what is
// missing is reported.
func TestNoRoom(t *testing.T) {
	cmd, path := run(t, 2<<20)
	r := &recording{t, path}
	r.becomes("gotrace_ended", "once, because there was no room for it in the trace")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	tr := tracetest.OpenFile(t, path)
	if line := analysis.LossLine(tr); !strings.Contains(line, "a part of Go's execution trace was lost: there was no room for it in the trace") {
		t.Errorf("lost: %q", line)
	}
	info, err := reader.Read(tr, reader.Handler{})
	if err != nil {
		t.Fatal(err)
	}
	// The end may coincide with a generation's: then nothing is incomplete.
	if len(info.Stretches) == 0 || info.Right < 20 || info.Missing != (len(info.Problems) > 0) {
		t.Errorf("%+v", info)
	}
	for _, p := range info.Problems {
		if !strings.Contains(p, "its end is missing; tracing ended once, because there was no room for it in the trace") {
			t.Error(p)
		}
	}
}
