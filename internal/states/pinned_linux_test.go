package states

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// pinnedTrace in the environment makes the test binary a program that records there.
const pinnedTrace = "STATES_PINNED_TRACE"

func spinA(until time.Time) { spin(until) }
func spinB(until time.Time) { spin(until) }

func spin(until time.Time) {
	for time.Now().Before(until) {
		compute(1000)
	}
}

// readsPipe blocks its thread in a system call whose end Go does not see.
func readsPipe(fd int) { _, _ = syscall.Read(fd, make([]byte, 1)) }

func pinned(path string) error {
	runtime.GOMAXPROCS(2)
	if err := scope.Start(path, gotrace.With()); err != nil {
		return err
	}
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		return err
	}
	done := make(chan bool)
	end := time.Now().Add(time.Second)
	go func() { spinA(end); done <- true }()
	go func() { spinB(end); done <- true }()
	<-done
	<-done
	go func() { readsPipe(p[0]); done <- true }()
	time.Sleep(waitFor)
	_, _ = syscall.Write(p[1], []byte{1})
	<-done
	return scope.Stop()
}

// TestPinned: two threads compute on one CPU: each waits for it while the other has
// it.
func TestPinned(t *testing.T) {
	if path := os.Getenv(pinnedTrace); path != "" {
		if err := pinned(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	begin, before := time.Now(), stolen(t)
	for try := 1; ; try++ { // other programs may use the CPU too, or the host may take it
		wrong := pinnedOnce(t)
		if len(wrong) == 0 {
			return
		}
		t.Log(strings.Join(wrong, "\n"))
		if try == 3 {
			failUnlessStolen(t, begin, before, "%d recordings are wrong", try)
		}
	}
}

// pinnedOnce records once, and returns what is wrong.
func pinnedOnce(t *testing.T) (wrong []string) {
	path := filepath.Join(t.TempDir(), "x.scope")
	if out, err := onOneCPU(t, path); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tr := tracetest.OpenFile(t, path)
	if !tr.HasSwitches() {
		t.Skip(whyNot(tr))
	}
	bad := func(text string, args ...any) { wrong = append(wrong, fmt.Sprintf(text, args...)) }
	f, by := lives(t, tr)
	const pkg = "github.com/scopeview/scopeview/internal/states."
	a, b, c := by[pkg+"pinned.func1"], by[pkg+"pinned.func2"], by[pkg+"pinned.func3"]
	if len(a) != 1 || len(b) != 1 || len(c) != 1 {
		bad("%d, %d and %d goroutines, want one of each; %v", len(a), len(b), len(c), f.Problems)
		return wrong
	}
	for i, l := range []*life{a[0], b[0]} {
		other := []*life{b[0], a[0]}[i]
		l.log(t, "spins")
		span := l.To - l.From
		waits := l.times[Preempted] + l.times[Runnable]
		// While the other goroutine has the CPU this one waits. Other programs add
		// to that.
		if waits < other.times[CPU]*9/10 || l.times[CPU]+waits < span*9/10 {
			bad("of %v it was on the CPU for %v and waited for it for %v; the other was on it for %v",
				time.Duration(span), time.Duration(l.times[CPU]), time.Duration(waits), time.Duration(other.times[CPU]))
		}
		if l.times[Preempted] < span/4 {
			bad("of %v it was put off the CPU for %v, want about half", time.Duration(span), time.Duration(l.times[Preempted]))
		}
		if share := float64(l.times[CPU]) / float64(l.times[CPU]+other.times[CPU]); share < 0.4 || share > 0.6 {
			bad("of what both had it had %.2f, want about half", share)
		}
	}
	c[0].log(t, "reads a pipe")
	if c[0].times[Blocked] < int64(waitFor)/2 {
		bad("it was blocked for %v, want about %v", time.Duration(c[0].times[Blocked]), waitFor)
	}
	for _, k := range f.Checks.List() {
		t.Logf("%v: %s", k.OK, k.Text)
		if !k.OK {
			bad("%s", k.Text)
		}
	}
	return wrong
}

// onOneCPU runs this test as a program that may use one CPU only.
func onOneCPU(t *testing.T, path string) ([]byte, error) {
	t.Helper()
	runtime.LockOSThread() // a child inherits the CPUs of the thread that creates it
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Skip(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if before.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Skip(err)
	}
	defer unix.SchedSetaffinity(0, &before)
	cmd := exec.Command(os.Args[0], "-test.run=^TestPinned$")
	cmd.Env = append(os.Environ(), pinnedTrace+"="+path)
	return cmd.CombinedOutput()
}
