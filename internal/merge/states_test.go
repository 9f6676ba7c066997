package merge

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// recorded records goroutines that compute, wait for a lock and for one another.
func recorded(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := scope.Start(path, gotrace.With()); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	c := make(chan int)
	for range 4 {
		wg.Go(func() {
			defer scope.Begin("work").End()
			for i := range 50 {
				mu.Lock()
				time.Sleep(20 * time.Microsecond)
				mu.Unlock()
				c <- i
			}
		})
	}
	for range 200 {
		<-c
	}
	wg.Wait()
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	return path
}

// story is all that is told of the states of goroutines: by goroutine, with stacks.
func story(t *testing.T, tr *trace.Trace, number uint32, start int64) (*states.Facts, map[uint64][]string) {
	t.Helper()
	by := map[uint64][]string{}
	own := func(goid uint64) (uint64, bool) {
		if number == 0 || goid == 0 {
			return goid, true
		}
		p, ok := tr.ProcessOf(goid)
		return tr.OwnGoid(goid), ok && p.Number == number
	}
	f, err := states.Each(tr, func(f *states.Facts, v *states.Interval) {
		goid, ok := own(v.Goid)
		if !ok {
			return
		}
		woken, _ := own(v.By)
		by[goid] = append(by[goid], fmt.Sprint(v.From-start, v.To-start, v.State, v.On, v.Thread, v.Proc, f.Stack(v.Stack), woken, f.Stack(v.ByStack), v.ReasonName))
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, by
}

// TestStatesSurvive: of each goroutine the merged trace says what its own trace says.
func TestStatesSurvive(t *testing.T) {
	paths := []string{recorded(t, "a.scope"), recorded(t, "b.scope")}
	m, _ := merged(t, paths...)
	ps := m.Processes()
	var totals, runtime [states.Count]int64
	goroutines := 0
	for _, p := range ps {
		in := opened(t, paths[slices.IndexFunc(paths, func(path string) bool { return filepath.Base(path) == p.Path })])
		want, wanted := story(t, in, 0, 0)
		_, got := story(t, m, p.Number, p.From)
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s: %d goroutines, and alone %d", p.Path, len(got), len(wanted))
			for id := range wanted {
				if !reflect.DeepEqual(got[id], wanted[id]) {
					t.Errorf("goroutine %d\n got %v\nwant %v", id, got[id], wanted[id])
					break
				}
			}
		}
		for s := range states.Count {
			totals[s] += want.Totals[s]
			runtime[s] += want.Runtime[s]
		}
		goroutines += len(want.Goroutines)
	}
	f, _ := story(t, m, 1, 0)
	if f.Totals != totals || f.Runtime != runtime || len(f.Goroutines) != goroutines || !f.Checks.Sum.OK || len(f.Problems) > 0 {
		t.Errorf("%v\nand alone %v\n%d goroutines and %d; %v", f.Totals, totals, len(f.Goroutines), goroutines, f.Problems)
	}
	if totals[states.Lock] == 0 || totals[states.Channel] == 0 {
		t.Errorf("the recordings have no waits: %v", totals)
	}
}
