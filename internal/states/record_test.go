package states

import (
	"errors"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	gotraces "github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

var sink atomic.Int64 // keeps computations from being optimized away

// recorded runs f while a trace is recorded, and opens the trace.
func recorded(t *testing.T, f func()) *trace.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, gotrace.With(), scope.WithHeartbeat(50*time.Millisecond))
	f()
	end()
	return tracetest.OpenFile(t, path)
}

// life holds a goroutine's times by state.
type life struct {
	*Goroutine
	times [Count]int64
}

// lives reads what goroutines did, by their entry function.
func lives(t *testing.T, tr *trace.Trace) (*Facts, map[string][]*life) {
	t.Helper()
	byID := map[uint64]*life{}
	f, err := Read(tr, func(v *Interval) {
		if byID[v.Goid] == nil {
			byID[v.Goid] = &life{}
		}
		byID[v.Goid].times[v.State] += v.To - v.From
	})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]*life{}
	for id, l := range byID {
		l.Goroutine = f.Goroutines[id]
		if frames := f.Stack(l.Start); len(frames) > 0 {
			name := frames[len(frames)-1].Func
			by[name] = append(by[name], l)
		}
	}
	if !f.Checks.Sum.OK {
		t.Error(f.Checks.Sum.Text)
	}
	return f, by
}

func (l *life) log(t *testing.T, name string) {
	text := ""
	for s, d := range l.times {
		if d > 0 {
			text += " " + State(s).String() + " " + time.Duration(d).String()
		}
	}
	t.Logf("%s, for %v:%s", name, time.Duration(l.To-l.From), text)
}

// TestCPUTimes: a reading that computes the times finds the same as Attach, and no
// additional reading takes place.
func TestCPUTimes(t *testing.T) {
	tr := recorded(t, func() {
		for range 3 {
			end := scope.Task("computes")
			for until := time.Now().Add(5 * time.Millisecond); time.Now().Before(until); {
				sink.Add(1)
			}
			end()
		}
	})
	if h := CPUTimes(tr); h.Interval != nil || h.Done != nil {
		t.Error("CPU times are read that nobody wants")
	}
	Attach(tr)
	scopes := func() (all []trace.Event) {
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			if e.Kind == format.KindTask {
				all = append(all, trace.Event{Start: e.Start, CPU: e.CPU, Quality: e.Quality})
			}
		}
		return all
	}
	want := scopes()
	tr.UseCPU(func() (trace.CPUAt, error) { return nil, errors.New("the Go trace is read once more") })
	taken, samples := 0, 0
	f, err := EachOf(tr, CPUTimes(tr), Handler{
		Interval: func(*Facts, *Interval) { taken++ },
		Sample:   func(*Facts, *gotraces.Sample, State) { samples++ },
		Done:     func(f *Facts) { taken += 1 << 30 },
	})
	if err != nil || taken <= 1<<30 || int64(samples) != f.Info.Samples {
		t.Errorf("%d intervals, %d samples, %v", taken, samples, err)
	}
	got := scopes()
	if len(want) != 3 || !reflect.DeepEqual(got, want) || want[0].Quality == format.Unknown {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
