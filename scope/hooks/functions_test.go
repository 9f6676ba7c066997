//go:build !scope_off

package hooks_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/hooks"
)

// functions is the table in a generated file.
var functions = [...]hooks.Func{{Name: "main.hot"}, {Name: "main.rare"}, {Name: "main.args"}}

var sink int

func hot() {
	if h := functions[0].Enter(); h.Loc != 0 {
		defer h.End()
	}
	sink2()
}

//go:noinline
func sink2() {}

func rare() {
	if h := functions[1].Enter(); h.Loc != 0 {
		defer h.End()
	}
	hot()
}

func withArgs(n int, s string) {
	if h := functions[2].EnterArgs(hooks.KV("n", n), s); h.Loc != 0 {
		defer h.End()
	}
	sink += n
}

// begin starts a recording whose functions may take share of the CPU time.
func begin(t testing.TB, share float64, opts ...scope.Option) (path string) {
	t.Helper()
	record.Instrument(share)
	path = filepath.Join(t.TempDir(), "x.scope")
	if err := scope.Start(path, opts...); err != nil {
		t.Fatal(err)
	}
	return path
}

// end stops the recording, and returns the number of scopes by name, and the counts of calls.
func end(t testing.TB, path string) (scopes map[string]int64, calls map[string]trace.CallCount) {
	t.Helper()
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	tracetest.Verify(t, path)
	tr := tracetest.OpenFile(t, path)
	scopes, calls = map[string]int64{}, map[string]trace.CallCount{}
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind == format.KindTask && !e.Open {
			scopes[tr.Name(e.Name)]++
		}
	}
	for _, c := range tr.Calls() {
		calls[tr.Name(c.Name)] = c
	}
	return scopes, calls
}

// TestRecorded makes few calls, within what may always be recorded: all are recorded, and there
// are no counts. A second recording starts afresh.
func TestRecorded(t *testing.T) {
	for range 2 {
		path := begin(t, 1)
		for range 50 {
			rare()
		}
		withArgs(7, "seven")
		scopes, calls := end(t, path)
		if scopes["main.hot"] != 50 || scopes["main.rare"] != 50 || scopes["main.args"] != 1 || len(scopes) != 3 || len(calls) != 0 {
			t.Errorf("scopes %v, calls %v", scopes, calls)
		}
	}
	hot() // without a recording
}

// TestArguments reads the arguments back.
func TestArguments(t *testing.T) {
	path := begin(t, 1)
	withArgs(7, "seven")
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	tr := tracetest.OpenFile(t, path)
	var got string
	err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		for _, a := range args.NewLister(tr.Name).List(e) {
			got += fmt.Sprint(a.Value.Value, string(a.Value.Str), ";")
		}
		return true
	})
	if err != nil || got != "7;0seven;" {
		t.Errorf("arguments %q, %v", got, err)
	}
}

// TestEveryCallIsCounted: goroutines on all processors call one function far more often than it
// may be recorded. Each call is counted once, and the number of recorded ones is right. On a
// slow machine the count becomes an estimate in the end.
func TestEveryCallIsCounted(t *testing.T) {
	const goroutines, each = 8, 200_000
	path := begin(t, 1e-9)
	var done sync.WaitGroup
	for range goroutines {
		done.Go(func() {
			for range each {
				hot()
			}
		})
	}
	done.Wait()
	scopes, calls := end(t, path)
	c := calls["main.hot"]
	if c.Unseen == 0 && c.Calls != goroutines*each || c.All() < goroutines*each/2 || c.All() > 2*goroutines*each || c.Recorded != scopes["main.hot"] || c.Recorded == 0 || c.Recorded > c.Calls/4 {
		t.Errorf("%d calls, %+v, %d scopes", goroutines*each, c, scopes["main.hot"])
	}
}

// TestLeftOut: a function that is filtered out is not recorded, nor reported as too expensive,
// until the filter admits it.
func TestLeftOut(t *testing.T) {
	path := begin(t, 1, scope.WithFilter("-main.hot"))
	for range 40 {
		rare()
	}
	if err := scope.SetFilter("-main.rare"); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		rare()
	}
	scopes, calls := end(t, path)
	if scopes["main.hot"] != 30 || scopes["main.rare"] != 40 || len(calls) != 0 {
		t.Errorf("scopes %v, calls %v", scopes, calls)
	}
}

// TestTooManyFunctions has more functions than there are ids: the calls of the last ones are
// counted together, and not recorded.
func TestTooManyFunctions(t *testing.T) {
	const more = 100
	many := make([]hooks.Func, 1<<16+more)
	path := begin(t, 1)
	for i := range many {
		many[i].Name = fmt.Sprint("f", i)
		many[i].Enter().End()
	}
	last := &many[len(many)-1]
	last.Enter().End()
	_, calls := end(t, path)
	// The first two ids are reserved, and the last function is called twice.
	if c := calls["(other names)"]; c.Recorded != 0 || c.Calls != more+2+1 {
		t.Errorf("%+v", c)
	}
}

// TestCharge: the cost of other hooks reduces the budget for functions. This function takes a
// sixth of the CPU time, which would be within the half.
func TestCharge(t *testing.T) {
	path := begin(t, 0.5)
	record.Charge(int64(time.Hour))
	for until := time.Now().Add(time.Second); time.Now().Before(until); {
		hot()
		for range 10 {
			_ = time.Now() // else it would exceed its share by itself
		}
	}
	_, calls := end(t, path)
	if c := calls["main.hot"]; c.Calls == c.Recorded || !c.Off {
		t.Errorf("%+v", c)
	}
}

// TestNothingIsAllocated calls functions that are recorded, and functions that are not.
func TestNothingIsAllocated(t *testing.T) {
	for share, what := range map[float64]string{1: "recorded", 1e-9: "counted"} {
		path := begin(t, share)
		n, text := 1<<40, "text"
		for name, f := range map[string]func(){"Enter": hot, "EnterArgs": func() { withArgs(n, text) }} {
			f()
			least := testing.AllocsPerRun(200, f)
			for range 5 {
				least = min(least, testing.AllocsPerRun(200, f))
			}
			if least != 0 && !raceEnabled {
				t.Errorf("%s, %s: %v allocations", name, what, least)
			}
		}
		end(t, path)
	}
}

// TestFunctionsHavePlaces: the place of a function's name is the function.
func TestFunctionsHavePlaces(t *testing.T) {
	path := begin(t, 1)
	rare()
	withArgs(1, "x")
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	tr := tracetest.OpenFile(t, path)
	found := map[string]string{}
	for _, p := range tr.NamePlaces(0) {
		found[tr.Name(p.Name)] = p.Function[strings.LastIndexByte(p.Function, '.')+1:] + " " + filepath.Base(p.File)
	}
	want := map[string]string{"main.rare": "rare functions_test.go", "main.hot": "hot functions_test.go", "main.args": "withArgs functions_test.go"}
	if !maps.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
