package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// waitFor makes a goroutine wait in a call that a program might contain.
//
//go:noinline
func waitFor(mu sync.Locker) {
	mu.Lock()
	mu.Unlock()
}

//go:noinline
func receive(c chan int) { <-c }

// TestWaitsOfARun records waits for a lock of package scope, for one of package sync, and for a
// channel, each of at least 20 ms, and checks their places.
func TestWaitsOfARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	const d = 20 * time.Millisecond
	ours, theirs, c := &scope.Mutex{Name: "ours"}, new(sync.Mutex), make(chan int)
	var wg sync.WaitGroup
	func() {
		defer scope.Task("holding")()
		for _, mu := range []sync.Locker{ours, theirs} {
			mu.Lock()
			wg.Go(func() {
				defer scope.Task("waiting")()
				waitFor(mu)
			})
			time.Sleep(d)
			mu.Unlock()
			wg.Wait()
		}
		wg.Go(func() { receive(c) })
		time.Sleep(d)
		c <- 1
		wg.Wait()
	}()
	end()
	var out, errs strings.Builder
	if code := execute(t.Context(), &streams{out: &out, err: &errs}, []string{"waits", path, "--json", "--stacks"}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var doc struct {
		States   bool `json:"go_states"`
		Problems []string
		Locks    []struct {
			Name             string
			Wait             int64 `json:"wait_ns"`
			Acquired         int64
			Holders, Waiters []struct{ Name string }
			Stacks           []struct{ Stack, Woken []report.Frame }
		}
		Places []struct {
			State   string
			NS      int64
			At      report.Frame
			Stack   []report.Frame
			WokenBy []struct{ At report.Frame } `json:"woken_by"`
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if !doc.States {
		t.Skipf("Go's execution trace could not be had: %q", doc.Problems)
	}
	in := func(frames []report.Frame, f string) bool {
		for _, x := range frames {
			if strings.HasSuffix(x.Function, f) {
				return true
			}
		}
		return false
	}
	if len(doc.Locks) != 1 {
		t.Fatalf("locks: %+v", doc.Locks)
	}
	l := doc.Locks[0]
	if l.Name != "ours" || l.Wait < int64(d)/2 || l.Acquired != 2 || len(l.Holders) != 1 || l.Holders[0].Name != "holding" || len(l.Waiters) != 1 || l.Waiters[0].Name != "waiting" {
		t.Errorf("the lock: %+v", l)
	}
	if len(l.Stacks) != 1 || !in(l.Stacks[0].Stack, ".waitFor") || !in(l.Stacks[0].Woken, "TestWaitsOfARun.func1") {
		t.Errorf("its stacks: %+v", l.Stacks)
	}
	want := map[string]string{"lock": ".waitFor", "channel": ".receive"}
	for _, p := range doc.Places {
		f := want[p.State]
		if f == "" || !strings.HasSuffix(p.At.Function, f) {
			continue
		}
		delete(want, p.State)
		if p.NS < int64(d)/2 || !in(p.Stack, f) || len(p.WokenBy) == 0 || !strings.Contains(p.WokenBy[0].At.Function, "TestWaitsOfARun") {
			t.Errorf("%s: %+v", p.State, p)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v in %+v", want, doc.Places)
	}
}

// TestWaitsOfScopeGo: the places of waits and of wake-ups of goroutines made by scope.Go are
// reported in the same words as those of the go statement.
func TestWaitsOfScopeGo(t *testing.T) {
	placesOf := func(start func(f func())) (places []string) {
		path := filepath.Join(t.TempDir(), "x.scope")
		end := recordtest.Begin(t, path, gotrace.With())
		mu, c, waiting := new(sync.Mutex), make(chan int), make(chan int)
		mu.Lock()
		start(func() {
			waiting <- 1
			waitFor(mu)
			c <- 1
		})
		<-waiting
		time.Sleep(20 * time.Millisecond) // the goroutine waits for the lock at most this long
		start(mu.Unlock)
		start(func() { receive(c); waiting <- 2 })
		<-waiting
		end()
		var doc struct {
			States   bool `json:"go_states"`
			Problems []string
			Places   []struct {
				State   string
				At      report.Frame
				WokenBy []struct{ At report.Frame } `json:"woken_by"`
			}
		}
		var out, errs strings.Builder
		if code := execute(t.Context(), &streams{out: &out, err: &errs}, []string{"waits", path, "--json"}); code != exitOK {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		if err := json.Unmarshal([]byte(out.String()), &doc); err != nil {
			t.Fatal(err)
		}
		if !doc.States {
			t.Skipf("Go's execution trace could not be had: %q", doc.Problems)
		}
		for _, p := range doc.Places {
			if p.State == "lock" && len(p.WokenBy) == 1 {
				places = append(places, p.At.Function+" woken by "+p.WokenBy[0].At.Function)
			}
		}
		return places
	}
	plain := placesOf(func(f func()) { go f() })
	ours := placesOf(func(f func()) { scope.Go("worker", f) })
	if len(plain) == 0 || strings.Join(plain, "\n") != strings.Join(ours, "\n") {
		t.Errorf("goroutines of scope.Go have the places\n%q\nof others\n%q", ours, plain)
	}
}
