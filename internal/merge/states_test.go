package merge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gotraces "github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// recorded records goroutines that compute, wait for a lock and for each other.
func recorded(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	end := recordtest.Begin(t, path, gotrace.With())
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
	end()
	return path
}

// story lists the states of goroutines, with stacks, by goroutine.
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

// edited returns a trace with some words of its text replaced. No text may become longer: its
// chunk may be full.
func edited(t *testing.T, path string, pairs ...string) string {
	t.Helper()
	whole := filetest.Read(t, path)
	var b bytes.Buffer
	if err := text.Dump(&b, bytes.NewReader(whole), int64(len(whole))); err != nil {
		t.Fatal(err)
	}
	said := strings.NewReplacer(pairs...).Replace(b.String())
	if said == b.String() || len(said) > b.Len() {
		t.Fatalf("%s has none of %q, or becomes longer", path, pairs)
	}
	return ofText(t, filepath.Base(path), said)
}

// TestStatesSurvive checks that the merged trace has the same states of each goroutine as its own
// trace, where the traces have one clock, and where only wall clocks can be compared.
func TestStatesSurvive(t *testing.T) {
	a, b := recorded(t, "a.scope"), recorded(t, "b.scope")
	survive(t, a, b)
	boot := tracetest.OpenFile(t, b).Lookup("boot")
	survive(t, edited(t, a, `info "os" "linux"`, `info "os" "other"`), edited(t, b, boot, strings.Repeat("0", len(boot))))
}

// TestStatesUnknown checks that a process without a Go execution trace has no known states.
func TestStatesUnknown(t *testing.T) {
	none := func(name, head string) string {
		return ofText(t, name, fmt.Sprintf("header %s wall=%d\nstate closed=1 tick=2000\nchunk blocks sealed\ninfo \"program\" \"/bin/other\"\nstop ticks=2000\n", head, time.Now().UnixNano()))
	}
	other := none("other.scope", "id=ff pid=9")
	m, _ := merged(t, recorded(t, "a.scope"), other)
	f, _ := story(t, m, 0, 0)
	if want := "goroutines' states are not known for other 9: its own trace has no Go execution trace"; !slices.Contains(f.Problems, want) || len(f.Goroutines) == 0 {
		t.Errorf("%q, %d goroutines", f.Problems, len(f.Goroutines))
	}
	m, _ = merged(t, other, none("more.scope", "id=fe pid=8"))
	if _, err := states.Read(m, nil); !errors.Is(err, gotraces.ErrNone) {
		t.Errorf("of two without any: %v", err)
	}
}

// TestStatesOfOneProcess checks that a merged trace that is read for one process has that process's
// sums.
func TestStatesOfOneProcess(t *testing.T) {
	a, b := recorded(t, "a.scope"), edited(t, recorded(t, "b.scope"), fmt.Sprint("pid=", os.Getpid()), "pid=1")
	m, _ := merged(t, a, b)
	one, err := trace.ParseProcesses(fmt.Sprint(os.Getpid()))
	if err == nil {
		err = m.KeepProcesses(one)
	}
	if err != nil {
		t.Fatal(err)
	}
	want, _ := story(t, tracetest.OpenFile(t, a), 0, 0)
	f, _ := story(t, m, 0, 0)
	if f.Totals != want.Totals || f.Runtime != want.Runtime || len(f.Goroutines) != len(want.Goroutines) {
		t.Errorf("%v\nand alone %v\n%d goroutines and %d", f.Totals, want.Totals, len(f.Goroutines), len(want.Goroutines))
	}
}

// TestLostGoTraceIsReported checks that lost parts of an input's Go execution trace are missing in the
// merged trace, too.
func TestLostGoTraceIsReported(t *testing.T) {
	whole := fmt.Sprintf("header id=ff pid=9 wall=%d\nstate closed=1 tick=2000\nchunk blocks sealed\ninfo \"program\" \"/bin/other\"\nstop ticks=2000\n", time.Now().UnixNano())
	other := ofText(t, "other.scope", strings.NewReplacer("id=ff pid=9", "id=fe pid=8").Replace(whole))
	lacks := func(text string) bool {
		m, _ := merged(t, ofText(t, "a.scope", text), other)
		return slices.ContainsFunc(m.Problems(), func(p trace.Problem) bool {
			return strings.Contains(p.Text, "a part of Go's execution trace was lost: there was no room for it in the trace")
		})
	}
	cut := strings.Replace(whole, "stop ", "info \"gotrace_ended\" \"once, because there was no room for it in the trace\"\nstop ", 1)
	if !lacks(cut) || lacks(whole) {
		t.Errorf("reported for one that lost some: %v, for a complete one: %v", lacks(cut), lacks(whole))
	}
}

func survive(t *testing.T, paths ...string) {
	t.Helper()
	m, _ := merged(t, paths...)
	ps := m.Processes()
	var totals, runtime [states.Count]int64
	goroutines := 0
	for _, p := range ps {
		in := tracetest.OpenFile(t, paths[slices.IndexFunc(paths, func(path string) bool { return filepath.Base(path) == p.Path })])
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
