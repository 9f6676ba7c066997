//go:build !scope_off

package record_test

import (
	"maps"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// counted holds the counts of a name's calls from one function.
type counted struct{ calls, weight int64 }

// stacksOf sums the stacks of a trace by name and caller.
func stacksOf(tr *trace.Trace) map[string]counted {
	m := map[string]counted{}
	tr.EachStack(func(s *trace.Stack) bool {
		key := tr.Name(s.Name) + " " + strings.Join(callers(s, 1), "<")
		m[key] = counted{m[key].calls + s.Calls, m[key].weight + s.Weight}
		return true
	})
	return m
}

// callers returns the first n functions of a stack, without their package.
func callers(s *trace.Stack, n int) (names []string) {
	for _, f := range s.Frames[:min(n, len(s.Frames))] {
		names = append(names, f.Function[strings.LastIndexByte(f.Function, '/')+1:])
	}
	return names
}

//go:noinline
func stackA(n int64) { Stack("a", n) }

//go:noinline
func stackB() {
	Stack("a", 1)
	inlinedB()
}

func inlinedB() { Stack("b", -1) }

//go:noinline
func stackDeep(n int) {
	if n == 0 {
		Stack("deep", 1)
		return
	}
	stackDeep(n - 1)
}

// TestStack: calls and weights are counted exactly, by name and caller, on every
// path of the recorder.
func TestStack(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		for i := range int64(1000) {
			stackA(i)
			if i%10 == 0 {
				stackB()
			}
		}
		func() {
			defer Stack("deferred", 7)
			Event("event")
		}()
		done := make(chan bool)
		go func() { defer close(done); stackA(1e6) }()
		<-done
		f := Stack
		f("value", math.MaxInt64)
		f("value", 1)
		r := stop(t)
		want := map[string]counted{
			"a record_test.stackA":                   {1001, 999*1000/2 + 1e6},
			"a record_test.stackB":                   {100, 100},
			"b record_test.inlinedB":                 {100, -100},
			"deferred record_test.TestStack.func1.1": {1, 7},
			"value record_test.TestStack.func1":      {2, math.MinInt64},
		}
		got := stacksOf(r.Trace)
		if !maps.Equal(got, want) {
			t.Errorf("counted %v, want %v", got, want)
		}
		if s := Stats(); s.Stacks != 1204 || s.Lost != (Lost{}) || s.Misuse != (Misuse{}) || s.Recorded != 1 {
			t.Errorf("%+v", s)
		}
		if b, _ := r.LastBeat(); true {
			if n, _ := b.Value(format.FieldStacks); n != 1204 {
				t.Errorf("the last heartbeat has %d stacks", n)
			}
		}
	})
}

// TestStackFrames: a stack has lines of code, inlined functions as separate
// frames, and a limit.
func TestStackFrames(t *testing.T) {
	start(t)
	stackB()
	stackDeep(10)
	stackDeep(100)
	_, file, line, _ := runtime.Caller(0)
	r := stop(t)
	r.EachStack(func(s *trace.Stack) bool {
		last := s.Frames[len(s.Frames)-1]
		switch name := r.Name(s.Name); {
		case name == "a":
			if got := strings.Join(callers(s, 2), "<"); got != "record_test.stackB<record_test.TestStackFrames" {
				t.Errorf("%s: %s", name, got)
			}
		case name == "b":
			if got := strings.Join(callers(s, 3), "<"); got != "record_test.inlinedB<record_test.stackB<record_test.TestStackFrames" {
				t.Errorf("%s: %s", name, got)
			}
			if f := s.Frames[2]; f.File != file || f.Line != uint32(line-3) || !s.Frames[0].Inlined || s.Frames[1].Inlined {
				t.Errorf("%s: %+v, want line %d of %s", name, s.Frames[:3], line-3, file)
			}
		case s.Cut:
			if len(s.Frames) < 60 || last.Function != s.Frames[0].Function {
				t.Errorf("of a hundred callers there are %d, up to %s", len(s.Frames), last.Function)
			}
		case len(s.Frames) != 13 || last.Function != "testing.tRunner":
			t.Errorf("of ten callers there are %q", callers(s, 100))
		}
		return true
	})
	if n := len(stacksOf(r.Trace)); n != 3 {
		t.Errorf("%d names and callers, want 3", n)
	}
}

// TestStackMisuse: odd names and calls at odd times do no harm.
func TestStackMisuse(t *testing.T) {
	Stack("before", 1)
	kilo := strings.Repeat("n", 1024)
	start(t)
	Stack("", 1)
	Stack("a\xff\x00b", 1)
	Stack(kilo+"more", 1)
	Stack(strings.Repeat("n", 1<<20), 1)
	Stack("least", math.MinInt64)
	r := stop(t)
	Stack("after", 1)
	const from = " record_test.TestStackMisuse"
	want := map[string]counted{from: {1, 1}, "a\xff\x00b" + from: {1, 1}, kilo + from: {2, 2}, "least" + from: {1, math.MinInt64}}
	if got := stacksOf(r.Trace); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	if s := Stats(); s.Misuse != (Misuse{}) || s.Lost != (Lost{}) || s.Stacks != 5 {
		t.Errorf("%+v", s)
	}
}

func TestStackFilter(t *testing.T) {
	start(t, WithFilter("-b"))
	stackB()
	SetFilter("-a")
	stackB()
	r := stop(t)
	want := map[string]counted{"a record_test.stackB": {1, 1}, "b record_test.inlinedB": {1, -1}}
	if got := stacksOf(r.Trace); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	Stack("a", 1) // does nothing after Stop
}

// TestStackIsRecordedWhileItRuns: the trace has a call a tick later.
func TestStackIsRecordedWhileItRuns(t *testing.T) {
	start(t, WithHeartbeat(10*time.Millisecond), WithFlushEvery(10*time.Millisecond))
	for round := int64(1); round <= 3; round++ {
		stackA(round)
		deadline := time.Now().Add(10 * time.Second)
		for {
			tr, err := trace.OpenFile(Path())
			if err != nil {
				t.Fatal(err)
			}
			n := stacksOf(tr)["a record_test.stackA"]
			tr.Close()
			if n.calls == round {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("round %d: the trace has %+v", round, n)
			}
			runtime.Gosched()
		}
	}
	stop(t)
}

// TestStackUnderTraffic: while recordings begin and end, the counted and the
// lost calls are those made between a Start and its Stop.
func TestStackUnderTraffic(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		const workers, calls = 4, 20_000
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for i := range calls {
					stackDeep(i % 8)
					if i%1000 == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		wg.Wait()
		r := stop(t)
		s := Stats()
		if s.Stacks+s.Lost.Stacks != workers*calls || s.Lost.Total() != s.Lost.Stacks {
			t.Errorf("%d counted, lost %+v, of %d", s.Stacks, s.Lost, workers*calls)
		}
		if got := stacksOf(r.Trace)["deep record_test.stackDeep"]; got != (counted{s.Stacks, s.Stacks}) {
			t.Errorf("the trace has %+v, Stats %d", got, s.Stacks)
		}
	})
	t.Run("over stops", func(t *testing.T) {
		var wg sync.WaitGroup
		quit := make(chan bool)
		for range 3 {
			wg.Go(func() {
				for {
					select {
					case <-quit:
						return
					default:
						stackA(2)
					}
				}
			})
		}
		for range 20 {
			start(t)
			runtime.Gosched()
			r := stop(t)
			if got, s := stacksOf(r.Trace)["a record_test.stackA"], Stats(); got != (counted{s.Stacks, 2 * s.Stacks}) {
				t.Errorf("the trace has %+v, Stats %d", got, s.Stacks)
			}
		}
		close(quit)
		wg.Wait()
	})
}
