//go:build !scope_off

package record_test

import (
	"slices"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	. "github.com/scopeview/scopeview/scope"
)

// TestRecords calls every recording function on one goroutine and compares with
// what the reader finds.
func TestRecords(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func()
		want []string
	}{
		{"task", func() { defer Task("f1")() }, []string{`task "f1"`}},
		{"nested", func() {
			defer Task("outer")()
			for range 2 {
				func() {
					defer Task("middle")()
					defer Task("inner")()
					tick()
				}()
			}
		}, []string{
			`task "outer"`,
			`task "middle" depth=1`, `task "inner" depth=2`,
			`task "middle" depth=1`, `task "inner" depth=2`,
		}},
		{"arguments", func() {
			defer Task("one", 1)()
			defer Task("two", -1, 2)()
			defer Task("three", 1<<40, 2, 3)()
			defer Task("four", 1, 2, 3, 4)()
			defer Task("mixed", 7, "text", KV("key", 2.5))()
			tick()
		}, []string{
			`task "one" | int:1`,
			`task "two" depth=1 | int:-1 int:2`,
			`task "three" depth=2 | int:1099511627776 int:2 int:3`,
			`task "four" depth=3 | int:1 int:2 int:3 int:4`,
			`task "mixed" depth=4 | int:7 string:"text" key=float:2.5`,
		}},
		{"taskf", func() { defer Taskf("part %d of %s", 3, "x")() }, []string{`taskf "part %d of %s" | int:3 string:"x"`}},
		{"process", func() { defer Process("stage", 5)() }, []string{`process "stage" | int:5`}},
		{"event", func() {
			defer Task("f1")()
			Event("now")
			Event("with", KV("n", 1))
			tick()
		}, []string{`task "f1"`, `event "now" depth=1`, `event "with" depth=1 | n=int:1`}},
		{"pending comes when it ends", func() {
			done := Pending("later", 8)
			Event("first")
			done()
		}, []string{`event "first"`, `pending "later" | int:8`}},
		{"span", func() {
			Begin("plain").End()
			Begin("both", 1).End(KV("bytes", 2), "ok")
			Begin("late").End(true)
		}, []string{
			`task "plain"`,
			`task "both" | int:1 || bytes=int:2 string:"ok"`,
			`task "late" || bool:true`,
		}},
		{"counter", func() { Counter("queue", len("four")) }, []string{`counter "queue" int:4`}},
		{"track", func() {
			Event("before")
			Track("row")
			Event("after")
			Track("")
			Event("unnamed")
		}, []string{
			`event "before"`,
			`track "row" track="row"`, `event "after" track="row"`,
			`track ""`, `event "unnamed"`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				start(t, backing)
				c.do()
				r := stop(t)
				if got := r.lines(); !slices.Equal(got, c.want) {
					t.Errorf("recorded\n%q, want\n%q", got, c.want)
				}
				for i := range r.events {
					if r.events[i].Goid != r.events[0].Goid || r.events[i].EndGoid != 0 {
						t.Errorf("one goroutine became several: %+v", r.events[i])
					}
				}
			})
		})
	}
}

// TestTimes compares the trace's clock with time.Now, and the CPU time with
// that of a busy loop.
func TestTimes(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		before := time.Now()
		end := Process("busy")
		func() {
			defer Task("busy, too")()
			for t0 := time.Now(); time.Since(t0) < 5*time.Millisecond; {
			}
		}()
		end()
		wall := time.Since(before)
		r := stop(t)
		const far = 2 * time.Millisecond // maximum difference of two clocks
		for _, e := range r.events {
			at, d := r.Wall(e.Start), time.Duration(e.Dur)
			if at.Before(before.Add(-far)) || at.After(before.Add(wall+far)) {
				t.Errorf("%s began %v after it did", e.name, at.Sub(before))
			}
			if d < 5*time.Millisecond-far || d > wall+far {
				t.Errorf("%s took %v, by the trace %v", e.name, wall, d)
			}
			if e.Kind == format.KindProcess && (e.User < 0 || e.System < 0 || e.CPU != e.User+e.System) {
				t.Errorf("process CPU time: %d user, %d system, %d together", e.User, e.System, e.CPU)
			}
			if e.Kind == format.KindTask && fastNow() != (e.Thread != 0) {
				t.Errorf("the thread is %d", e.Thread)
			}
		}
	})
}

func TestNothingIsRecordedWithoutStart(t *testing.T) {
	defer Task("a", 1)()
	defer Process("a")()
	Taskf("a %d", 1)()
	Begin("a").End(1)
	Span{}.End(1)
	Event("a")
	Pending("a")()
	Counter("a", 1)
	Track("a")
	if Enabled() {
		t.Error("Enabled without a recording")
	}
	start(t)
	if !Enabled() {
		t.Error("not Enabled while recording")
	}
	if r := stop(t); len(r.events) != 0 {
		t.Errorf("recorded %q", r.lines())
	}
}
