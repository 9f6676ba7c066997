package scope

import (
	"github.com/scopeview/scopeview/internal/sys"
	"testing"
	"time"
)

var sinkU uint64

func fdirect() { h := sys.Begin(headTask, "f1", nil); h.End() }
func fdefer()  { defer sys.Begin(headTask, "f1", nil).End() }
func fsys() {
	loc, start := sys.BeginFast(headTask, current.Load().gen)
	sys.EndFast(loc, start, 0, nil)
}

func TestRatio2(t *testing.T) {
	if err := Start(t.TempDir(), WithLimit(8<<30)); err != nil {
		t.Fatal(err)
	}
	defer Stop()
	run := func(name string, fn func()) {
		best := time.Hour
		for range 100 {
			t0 := time.Now()
			for range 1000 {
				fn()
			}
			if d := time.Since(t0); d < best {
				best = d
			}
		}
		t.Logf("%s %.1f", name, float64(best)/1000)
		time.Sleep(20 * time.Millisecond)
	}
	r := current.Load()
	for range 2 {
		run("floor", fpair)
		run("task", f)
		run("direct", fdirect)
		run("defer", fdefer)
		run("sys", fsys)
		run("find", func() { sinkU += r.names.find("f1") })
		run("begin", func() { sys.Begin(headTask, "f1", nil) })
		run("event", func() { Event("x") })
	}
}
