//go:build !scope_off

package main

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

func TestHelloLeavesATrace(t *testing.T) {
	t.Chdir(t.TempDir())
	main()
	files, err := filepath.Glob("traces/*.scope")
	if err != nil || len(files) != 1 {
		t.Fatalf("the traces are %v, error %v, want one", files, err)
	}
	tr, err := trace.OpenFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	got := make(map[string]int)
	err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind == format.KindTask || e.Kind == format.KindHold {
			got[tr.Name(e.Name)]++
		}
		if e.Open {
			t.Errorf("%s is still open", tr.Name(e.Name))
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"main": 1, "f1": 3, "f2": 3, "sum.mu": 3}; !maps.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}
