//go:build linux && amd64 && !scope_off && !scope_pure && !race

package record_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// TestG16Step stops a writer between any two of its instructions, lets the others
// commit 100,000 scopes, kills all, and reads the file. All of the others' scopes are
// there, the trace is valid, and of the stopped writer's record there is either the
// state before it, or all; if the number of stores is known, all only after the last
// one. The writer is not stopped while it holds a lock.
func TestG16Step(t *testing.T) {
	if faultfs.Emulated() || wantPath == format.PathPure {
		t.Skip("an emulator's threads can't be stepped, and the pure path takes 100,000 instructions for a scope")
	}
	s := &stepTest{binary: os.Args[0], assembly: wantPath == format.PathAssembly}
	s.run(t)
	t.Logf("G16: %s", s)
}

// TestG16StepGo is TestG16Step for the Go path.
func TestG16StepGo(t *testing.T) {
	if !faultfs.Full() {
		t.Skip("builds this test again; SCOPEVIEW_FAULT=full")
	}
	s := &stepTest{binary: buildTest(t, "scope_go")}
	s.run(t)
	t.Logf("G16: Go path: %s", s)
}

// TestG16StepThree stops three writers at once, at random places.
func TestG16StepThree(t *testing.T) {
	if faultfs.Emulated() || wantPath == format.PathPure {
		t.Skip("an emulator's threads can't be stepped, and the pure path takes 100,000 instructions for a scope")
	}
	runs := 4
	if faultfs.Full() {
		runs = 40
	}
	s := &stepTest{binary: os.Args[0], assembly: wantPath == format.PathAssembly}
	ops := s.ops()
	for range runs {
		var stops []stopAt
		for range 3 {
			stops = append(stops, stopAt{op: ops[rand.IntN(len(ops))], after: rand.IntN(220)})
		}
		s.stop(t, stops...)
	}
	t.Logf("G16: three at once: %s", s)
}

// stepTest is a run of such a test.
type stepTest struct {
	binary   string
	assembly bool
	mu       sync.Mutex
	runs     int
	before   int   // records that are missing, or unchanged
	after    int   // records that are there
	holes    int64 // empty places left by those that are missing
}

func (s *stepTest) String() string {
	return fmt.Sprintf("%d runs: %d writers stopped and killed between two instructions, %d scopes of others committed meanwhile, all there; of the stopped ones' records %d are there, %d are not, or as before, and left %d empty places",
		s.runs, s.before+s.after, s.runs*others*eachOther, s.after, s.before, s.holes)
}

// run runs all operations, two at a time.
func (s *stepTest) run(t *testing.T) {
	var wg sync.WaitGroup
	work := make(chan stopAt)
	for range 2 {
		wg.Go(func() {
			for at := range work {
				s.stop(t, at)
			}
		})
	}
	for _, op := range s.ops() {
		whole, err := runSteps(s.binary, []stopAt{{op: op, after: all}})
		for try := 0; err == nil && s.assembly && stepped[op].stores > 0 && whole.taken > 400 && try < 10; try++ {
			// The scheduler made it yield, because stepping took long.
			whole, err = runSteps(s.binary, []stopAt{{op: op, after: all}})
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if want := stepped[op].after; whole.found[0] != want {
			t.Errorf("%q done: %q, want %q", op, whole.found[0], want)
		}
		t.Logf("%q: %d instructions, %d of which store what the trace has", op, whole.taken, len(whole.stores))
		for _, at := range s.places(op, whole) {
			work <- at
		}
	}
	close(work)
	wg.Wait()
}

// ops returns the operations to stop: in short mode those of few instructions.
func (s *stepTest) ops() (ops []string) {
	for _, op := range slices.Sorted(maps.Keys(stepped)) {
		if faultfs.Full() || stepped[op].stores > 0 {
			ops = append(ops, op)
		}
	}
	return ops
}

// places returns where to stop an operation.
func (s *stepTest) places(op string, whole *stepsRun) (at []stopAt) {
	full := faultfs.Full()
	few := whole.taken < 400
	for i := range whole.stores {
		if full && (few || i%(len(whole.stores)/6+1) == 0) || i%3 == 0 && few {
			at = append(at, stopAt{op: op, stores: i + 1})
		}
	}
	switch {
	case !full:
		at = append(at, stopAt{op: op, after: whole.taken / 2})
	case few:
		for n := range whole.taken + 1 {
			at = append(at, stopAt{op: op, after: n})
		}
	default: // nearly all of it is in the runtime
		for range 3 {
			at = append(at, stopAt{op: op, after: rand.IntN(whole.taken)})
		}
	}
	return at
}

// stop stops writers and checks what is left.
func (s *stepTest) stop(t *testing.T, stops ...stopAt) {
	run, err := runSteps(s.binary, stops)
	if err != nil {
		t.Error(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	before, places := 0, int64(0)
	for i, at := range stops {
		op := stepped[at.op]
		switch run.found[i] {
		case op.before:
			before++
			s.before++
			places += int64(max(op.places, 1)) // or the chunk that it takes
		case op.after:
			s.after++
		default:
			t.Errorf("%+v: there is %q, want %q or %q", at, run.found[i], op.before, op.after)
		}
	}
	s.holes += run.holes
	if run.holes > places {
		t.Errorf("%+v: %d places are empty, those %d that were stopped can have left %d", stops, run.holes, before, places)
	}
	op := stepped[stops[0].op]
	if len(stops) > 1 || !s.assembly || op.stores == 0 || run.taken > 400 {
		return // or it took a longer path
	}
	done, hole := len(run.stores) == op.stores, op.places > 0 && len(run.stores)%op.stores != 0
	if done != (run.found[0] == op.after) || hole != (run.holes > 0) {
		t.Errorf("%+v: there is %q and %d empty places after %d stores of %d", stops[0], run.found[0], run.holes, len(run.stores), op.stores)
	}
}

// buildTest builds this test with tags, and returns the binary.
func buildTest(t *testing.T, tags string) string {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	binary := filepath.Join(t.TempDir(), "record.test")
	if out, err := exec.Command(goTool, "test", "-c", "-o", binary, "-tags", tags, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
