package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// TestLiveReadersNestNothing: while a program runs whose goroutines run one scope after the other, no
// view shows a goroutine in two scopes: neither top PID, which reads the chunks one after the
// other, nor the readers that follow the trace, nor the sums of serve.
func TestLiveReadersNestNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	if err := scope.Start(path); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // goroutines go from one processor's chunk to another's
	var over atomic.Bool
	var all sync.WaitGroup
	const goroutines = 64
	for range goroutines {
		all.Go(func() {
			for !over.Load() {
				done := scope.Task("work")
				time.Sleep(200 * time.Microsecond) // others run, and the goroutine continues on another processor
				done()
			}
		})
	}
	defer all.Wait()
	defer over.Store(true)
	look := func(what string, events func(f func(*trace.Event) bool) error) {
		t.Helper()
		open := map[uint64]int{}
		err := events(func(e *trace.Event) bool {
			if !e.Open {
				return true
			}
			if open[e.Goid]++; open[e.Goid] == 2 {
				t.Errorf("%s: goroutine %d is in two scopes", what, e.Goid)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	}
	f, err := hot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	follower, err := trace.NewFollower(f, f.Size, trace.FollowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	served := serve(t, path)
	served.get(served.url)
	base, _, _ := strings.Cut(served.url, "/?")
	looks := 0
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end) && !t.Failed(); looks++ {
		x, _, err := openTrace(context.Background(), strconv.Itoa(os.Getpid()))
		if err != nil {
			t.Fatal(err)
		}
		look("top PID", func(f func(*trace.Event) bool) error { return x.Events(trace.Options{}, f) })
		x.Close()
		if _, err := follower.Poll(func(*trace.Event) bool { return true }); err != nil {
			t.Fatal(err)
		}
		look("tail PID --still-open", follower.Open)
		var sums struct{ Scopes []struct{ Open int } }
		status, text := served.get(base + "/t/0/api/summary?whole=1&from=0&to=3600000000000")
		if err := json.Unmarshal([]byte(text), &sums); err != nil || status != 200 || len(sums.Scopes) != 1 {
			t.Fatalf("%d %s: %v", status, text, err)
		}
		if n := sums.Scopes[0].Open; n > goroutines {
			t.Errorf("serve: %d goroutines are in %d scopes", goroutines, n)
		}
	}
	served.ends()
	t.Logf("%d looks", looks)
}
