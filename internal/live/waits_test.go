//go:build linux || darwin

package live

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// TestWaits: the holders of a lock, and the numbers of waiters, are available while the
// trace is written.
func TestWaits(t *testing.T) {
	r := start(t, record(t), nil)
	var mu sync.Mutex
	unlock := scope.Lock(&mu, "mu")
	go func() { scope.Lock(&mu, "mu")() }()
	ask := func() *packed {
		t.Helper()
		return container(t, r.get("/t/0/api/waits?from=0&to=9007199254740991&px=1000"))
	}
	until := func(what string, done func(p *packed) bool) {
		t.Helper()
		r.view()
		for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			p := ask()
			if done(p) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: not after %v; %+v", what, patience, p.Locks)
			}
		}
	}
	until("a holder and a waiter", func(p *packed) bool {
		return len(p.Locks.Locks) == 1 && p.Locks.Locks[0].Holds == 1 && p.Locks.Locks[0].Waits == 1
	})
	until("whether there are states", func(p *packed) bool { return !p.Pending })
	if p := ask(); p.States != nil {
		t.Error("there are states without a Go execution trace")
	}
	unlock()
	until("two holders", func(p *packed) bool { return len(p.Locks.Locks) == 1 && p.Locks.Locks[0].Holds == 2 })
	for _, bad := range []string{"waits", "waits?from=1&to=2", "waits?from=2&to=1&px=1", "waits?from=1&to=2&px=0"} {
		if resp := r.get("/t/0/api/" + bad); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", bad, resp.Status)
		}
	}
}

// TestStates: the goroutines' states are sent once they have been read.
func TestStates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	done := make(chan bool)
	go func() {
		defer close(done)
		defer scope.Task("sleeps")()
		time.Sleep(20 * time.Millisecond)
	}()
	<-done
	end()
	r := start(t, path, nil)
	var p *packed
	for deadline := time.Now().Add(patience); p == nil || p.Pending; time.Sleep(10 * time.Millisecond) {
		p = container(t, r.get("/t/0/api/waits?from=0&to=9007199254740991&px=1000"))
		if time.Now().After(deadline) {
			t.Fatalf("the Go execution trace was not read after %v", patience)
		}
	}
	if p.States == nil {
		t.Fatalf("no states: %q", p.Problems)
	}
	slept := 0.0
	for i, s := range p.values["state"] {
		if p.States.Names[int(s)] == "sleep" {
			slept = max(slept, p.values["stateDur"][i])
		}
	}
	if slept < 20e6 || slept > 5e9 {
		t.Errorf("the longest sleep is %v ns, want 20 ms", slept)
	}
}

// TestDoctor: the doctor runs on request.
func TestDoctor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	tracetest.Write(t, path, "header start=1000\nstate closed=1 tick=9000\nchunk blocks\nname 2 \"n\"\nstop ticks=9000\nchunk records\ntask \"n\" g=7 start=2000 stop=3000 cpu=0/unknown\n")
	r := start(t, path, nil)
	var report struct {
		Findings   []any `json:"findings"`
		Unexamined []any `json:"unexamined"`
	}
	decode(t, r.get("/t/0/api/doctor"), &report)
	if len(report.Findings) != 0 || len(report.Unexamined) == 0 {
		t.Errorf("of a trace without a Go execution trace: %+v", report)
	}
}

// TestAdvice: the raw file beside the trace is read for each request, for a trace and for a
// directory.
func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.scope")
	tracetest.Write(t, path, "header start=1000\nstate closed=1 tick=9000\nchunk blocks\nstop ticks=9000\n")
	of, in := start(t, path, nil), start(t, dir, nil)
	if resp := in.get("/"); resp.StatusCode != http.StatusOK { // the list gives traces their numbers
		t.Fatal(resp.Status)
	}
	for _, step := range []struct {
		rows  []row.Row // nil: no raw file
		found int       // -1: null
	}{{nil, -1}, {[]row.Row{}, 0}, {[]row.Row{tracetest.Grown("int", 100, 10000, "main.fill /p/fill.go:10")}, 1}, {nil, -1}} {
		if step.rows != nil {
			tracetest.WriteRaw(t, path, step.rows...)
		} else if err := os.Remove(filepath.Join(dir, "a.raw")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for name, r := range map[string]*running{"trace": of, "directory": in} {
			var says *struct {
				Findings []any
				Error    string
			}
			decode(t, r.get("/t/0/api/advice"), &says)
			if step.found < 0 != (says == nil) || says != nil && (len(says.Findings) != step.found || says.Error != "") {
				t.Errorf("%s: %+v, want %d findings", name, says, step.found)
			}
		}
	}
}
