//go:build !scope_off

package main

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

func TestHelloLeavesATrace(t *testing.T) {
	t.Chdir(t.TempDir())
	main()
	files, err := filepath.Glob("traces/*.scope")
	if err != nil || len(files) != 1 {
		t.Fatalf("the traces are %v, error %v, want one", files, err)
	}
	tr, err := open.File(t.Context(), files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	got := make(map[string]int)
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind == format.KindTask || e.Kind == format.KindHold {
			got[tr.Name(e.Name)]++
		}
		// What a newcomer sees first is exact, and no "-".
		if e.Kind == format.KindTask && e.Quality != format.Exact && e.Quality != format.Likely && tr.HasSwitches() {
			t.Errorf("the CPU time of %s, which took %v, is %v", tr.Name(e.Name), time.Duration(e.Dur), e.Quality)
		}
		if e.Open {
			t.Errorf("%s is still open", tr.Name(e.Name))
		}
	}
	if len(tr.GoTraces()) == 0 {
		t.Error("Go's execution trace was not recorded: long scopes have no CPU time")
	}
	if !tr.HasSwitches() {
		t.Log("CPU times are not exact here: ", tr.Lookup("thread_switches"))
	}
	if want := map[string]int{"main": 1, "f1": 3, "f2": 3, "sum.mu": 3}; !maps.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}
