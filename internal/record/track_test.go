//go:build !scope_off

package record_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	. "github.com/scopeview/scopeview/scope"
)

// TestGo checks the row and the link of a goroutine started by Go.
func TestGo(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var wg sync.WaitGroup
		wg.Add(1)
		end := Task("creator")
		Go("worker", func() {
			defer wg.Done()
			defer Task("work")()
		})
		wg.Wait()
		end()
		r := stop(t)
		want := []string{`task "creator"`, `go "worker" track="worker"`, `task "work" track="worker"`}
		if got := r.lines(); !slices.Equal(got, want) {
			t.Fatalf("recorded %q, want %q", got, want)
		}
		creator, link, work := r.events[0], r.events[1], r.events[2]
		if link.Creator != creator.Goid || link.Goid == creator.Goid || work.Goid != link.Goid {
			t.Errorf("goroutine %d was created by %d, and %d by %d", work.Goid, creator.Goid, link.Goid, link.Creator)
		}
		if link.Created < creator.Start || link.Created > link.Start {
			t.Errorf("created at %d, its creator's scope began at %d, its first record at %d", link.Created, creator.Start, link.Start)
		}
	})
}

// TestRowsAreOfGoroutines checks that equal names make a group of rows and not
// one row: scopes nest per goroutine.
func TestRowsAreOfGoroutines(t *testing.T) {
	const workers = 8
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var inside, done sync.WaitGroup
		inside.Add(workers)
		for range workers {
			done.Add(1)
			Go("worker", func() {
				defer done.Done()
				defer Task("outer")()
				inside.Done()
				inside.Wait() // all outer scopes are open at once
				defer Task("inner")()
				tick()
			})
		}
		done.Wait()
		r := stop(t)
		rows := map[uint64]int{}
		for _, e := range r.events {
			rows[e.Goid]++
			if want := map[string]int32{"outer": 0, "inner": 1, "worker": 0}[e.name]; e.Depth != want {
				t.Errorf("%s is at depth %d, want %d", e.name, e.Depth, want)
			}
			if e.track != "worker" {
				t.Errorf("%s is on row %q", e.name, e.track)
			}
		}
		if len(rows) != workers || len(r.events) != 3*workers {
			t.Errorf("%d events on %d rows, want %d on %d", len(r.events), len(rows), 3*workers, workers)
		}
	})
}

// TestGoWhileStopping starts the goroutine while recording and runs it after
// Stop, and the other way round.
func TestGoWhileStopping(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		var wg sync.WaitGroup
		run := func(release chan bool) {
			wg.Add(1)
			Go("row", func() { defer wg.Done(); <-release; Task("late")() })
		}
		before, during := make(chan bool), make(chan bool)
		run(before)
		start(t, backing)
		close(before)
		wg.Wait()
		run(during)
		until(t, "the goroutine's first record", func() bool { return Stats().Recorded == 2 })
		r := stop(t)
		close(during)
		wg.Wait()
		if got, want := r.lines(), []string{`task "late"`, `go "row" track="row"`}; !slices.Equal(got, want) {
			t.Errorf("recorded %q, want %q", got, want)
		}
		if k := r.events[1].Kind; k != format.KindGo {
			t.Errorf("the goroutine's first record is a %v", k)
		}
	})
}
