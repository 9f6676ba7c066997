package scope

import (
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

var clk = sys.NewClock()

func fpair()      { t := clk.Now(); defer fsink(t) }
func fsink(int64) { clk.Now() }
func f2()         { defer Task("f2", 1, 2)() }
func f3()         { defer Task("f3", 1, "abc", KV("k", 3))() }

func TestRatio(t *testing.T) {
	if err := Start(t.TempDir(), WithLimit(8<<30)); err != nil {
		t.Fatal(err)
	}
	defer Stop()
	run := func(name string, fn func()) {
		best := time.Hour
		for range 200 {
			t0 := time.Now()
			for range 1000 {
				fn()
			}
			if d := time.Since(t0); d < best {
				best = d
			}
		}
		t.Logf("%s %.1f", name, float64(best)/1000)
	}
	for range 3 {
		run("floor", fpair)
		run("task", f)
		run("two ints", f2)
		run("int string kv", f3)
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%+v", Stats())
}
