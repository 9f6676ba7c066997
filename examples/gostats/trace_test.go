//go:build !scope_off

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// The trace must hold what the program did, no more and no less.
func TestTraceHasTheWork(t *testing.T) {
	const workers, passes, files = 4, 25, 2
	path := filepath.Join(t.TempDir(), "gostats.scope")
	var out, errs bytes.Buffer
	if code := run([]string{"-dir", "testdata/tree", "-workers", "4", "-repeat", "25", "-trace", path}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d, want 0; %s", code, &errs)
	}
	tr := tracetest.OpenFile(t, path)
	got := make(map[string]int)
	tracks := make(map[string]bool)
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		for _, s := range format.Specs {
			if s.Kind == e.Kind && s.CSV != "" {
				got[s.CSV+" "+tr.Name(e.Name)]++
			}
		}
		if e.Open {
			t.Errorf("%s is still open", tr.Name(e.Name))
		}
		if name := tr.Name(e.Track); strings.HasPrefix(name, "worker ") {
			tracks[name] = true
		}
	}
	merges := got["task merge"]
	if merges < passes || merges > workers*passes {
		t.Errorf("%d merges, want between %d and %d", merges, passes, workers*passes)
	}
	for name, want := range map[string]int{
		"task list": 1, "process pass": passes, "event pass done": passes,
		"task read": files * passes, "task parse": files * passes, "task count": files * passes, "task gzip": files * passes,
		"counter files": files * passes, "hold stats.mu": files*passes + merges,
	} {
		if got[name] != want {
			t.Errorf("%d records of %s, want %d", got[name], name, want)
		}
	}
	if len(tracks) == 0 || len(tracks) > workers {
		t.Errorf("rows of workers are %v, want at most %d", tracks, workers)
	}
	if lost := tr.Lost(); len(lost) > 0 {
		t.Errorf("records were lost: %v", lost)
	}
}

func TestGoTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gostats.scope")
	var out, errs bytes.Buffer
	if code := run([]string{"-dir", "testdata/tree", "-gotrace", "-trace", path}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d, want 0; %s", code, &errs)
	}
	tr := tracetest.OpenFile(t, path)
	if n := len(tr.GoTraces()); n == 0 {
		t.Error("there is no Go execution trace in it")
	}
}
