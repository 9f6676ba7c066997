package gotrace_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	exec "runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// busy returns a Go execution trace of some generations, with goroutines in all states.
func busy(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := exec.Start(&b); err != nil {
		t.Skip(err) // go test -trace is running
	}
	r := exec.NewFlightRecorder(exec.FlightRecorderConfig{})
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		ch := make(chan int)
		for i := range 20 {
			wg.Go(func() {
				mu.Lock()
				time.Sleep(time.Duration(i) * 10 * time.Microsecond)
				mu.Unlock()
				if i%2 == 0 {
					ch <- i
				} else {
					<-ch
				}
				runtime.Gosched()
			})
		}
		runtime.GC()
		wg.Wait()
		if _, err := r.WriteTo(io.Discard); err != nil { // it ends the generation
			t.Error(err)
		}
	}
	r.Stop()
	exec.Stop()
	return b.Bytes()
}

// change is a goroutine's change of state.
type change struct {
	from, to gotrace.GoState
	reason   string
	thread   uint32
	by       uint64
	stack    string
}

// decoded decodes a whole stream with one decoder. It returns the changes of each goroutine, and
// their times.
func decoded(t *testing.T, b []byte) (of map[uint64][]change, at map[uint64][]int64) {
	t.Helper()
	r, err := exptrace.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	of, at = map[uint64][]change{}, map[uint64][]int64{}
	for {
		e, err := r.ReadEvent()
		if err == io.EOF {
			return of, at
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind() != exptrace.EventStateTransition || e.StateTransition().Resource.Kind != exptrace.ResourceGoroutine {
			continue
		}
		st := e.StateTransition()
		from, to := st.Goroutine()
		if from == to {
			continue
		}
		goid := uint64(st.Resource.Goroutine())
		c := change{from: gotrace.GoState(from), to: gotrace.GoState(to), reason: st.Reason}
		if from.Executing() || to.Executing() {
			c.thread = uint32(e.Thread())
		} else if g := e.Goroutine(); g > 0 && from != exptrace.GoUndetermined {
			c.by = uint64(g)
		}
		for f := range st.Stack.Frames() {
			c.stack += fmt.Sprintf("%s:%d ", f.Func, f.Line)
		}
		of[goid], at[goid] = append(of[goid], c), append(at[goid], int64(e.Time()))
	}
}

// TestGenerations: generations that are decoded separately, at the same time, yield the same
// changes as one decoder of the whole stream.
func TestGenerations(t *testing.T) {
	streams := map[string][]byte{"busy": busy(t)}
	for _, v := range []string{"go1.22", "go1.23", "go1.25", "go1.26"} {
		b := filetest.Read(t, "../goscopes/testdata/"+v+".trace")
		streams[v] = b
	}
	for name, b := range streams {
		t.Run(name, func(t *testing.T) {
			want, at := decoded(t, b)
			got := map[uint64][]gotrace.Transition{}
			info, err := gotrace.ReadPlain(bytes.NewReader(b), gotrace.Handler{Transition: func(x *gotrace.Transition) { got[x.Goid] = append(got[x.Goid], *x) }})
			if err != nil || len(info.Problems) > 0 || info.Rough > 0 || len(info.Stretches) != 1 {
				t.Fatalf("%v, %+v", err, info)
			}
			if len(got) != len(want) {
				t.Errorf("%d goroutines, want %d", len(got), len(want))
			}
			var off int64 // between the clocks
			for goid, list := range got {
				recorded := list
				if last := list[len(list)-1]; last.To == gotrace.Unknown { // the reader ends goroutines that exist
					recorded = list[:len(list)-1]
				}
				if len(recorded) != len(want[goid]) {
					t.Errorf("goroutine %d: %d changes, want %d", goid, len(recorded), len(want[goid]))
					continue
				}
				for i, x := range recorded {
					w := want[goid][i]
					c := change{x.From, x.To, x.Reason, x.Thread, x.By, ""}
					for _, f := range info.Stack(x.Stack) {
						c.stack += fmt.Sprintf("%s:%d ", f.Func, f.Line)
					}
					if w.reason == "" || w.from == gotrace.Unknown {
						c.reason = w.reason // the reader may take it from the stack
					}
					if !strings.Contains(w.stack, strings.TrimSpace(c.stack)) {
						t.Errorf("goroutine %d: the stack %q, want %q", goid, c.stack, w.stack)
					}
					if w.stack = c.stack; c != w {
						t.Errorf("goroutine %d: %+v, want %+v", goid, c, w)
					}
					if x.From == gotrace.Unknown {
						continue
					}
					if off == 0 {
						off = at[goid][i] - x.Time
					}
					// The decoder delays events that had to wait for a thread that was taken off
					// its CPU.
					if d := at[goid][i] - off - x.Time; d < -int64(20*time.Millisecond) || d > int64(20*time.Millisecond) {
						t.Errorf("goroutine %d: %+v is off by %v", goid, x, time.Duration(d))
					}
				}
			}
		})
	}
}

// TestBrokenGeneration: the generations before and after one that can't be decoded are read, and
// the problem names that one.
func TestBrokenGeneration(t *testing.T) {
	m := newMade()
	var ends []int
	for i := range int64(10) {
		m.begin(start+1000+i*90_000).event(start+1010+i*90_000, evGoStatus, 7, 100, running).event(start+50_000+i*90_000, evGoStop, 6, 1)
		m.event(start+60_000+i*90_000, evGoStart, 7, 1).end()
		ends = append(ends, len(m.b))
	}
	good := slices.Clone(m.b)
	bad := slices.Clone(good)
	i := ends[5] + bytes.Index(bad[ends[5]:], []byte{evGoStop, 0x6f}) // somewhere in the seventh
	if j := bytes.IndexByte(bad[ends[5]+10:ends[6]], evGoStop); i < ends[5] {
		i = ends[5] + 10 + j
	}
	bad[i] = evGoDestroy + 100
	got, info := lines(t, tracetest.OpenText(t, in("", bad)))
	if len(info.Stretches) != 2 || len(info.Problems) != 1 || !strings.HasPrefix(info.Problems[0], "Go execution trace 1: generation 7: ") || !strings.HasSuffix(info.Problems[0], ", and from the generation after it on") {
		t.Errorf("%v, %q, %+v", info.Stretches, info.Problems, got)
	}
	if all, info := lines(t, tracetest.OpenText(t, in("", good))); len(info.Problems) > 0 || len(got) < len(all)-2 {
		t.Errorf("%d of %d lines, %q", len(got), len(all), info.Problems)
	}
}
