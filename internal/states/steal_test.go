package states

import (
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// ofSteal: in the second second the host takes 1 % of the CPUs' work, in the third 1.1
// %, and in the fourth nothing. One beat lacks the value.
const ofSteal = `
header clock=monotonic path=go start=1000 mono=1000
state closed=1 tick=5000001000
chunk blocks sealed
name 2 "f"
beat ticks=1000 machine_busy_ns=5000 steal_ns=70
beat ticks=1000001000 machine_busy_ns=1000005000 steal_ns=70
beat ticks=1500001000 user_ns=5
beat ticks=2000001000 machine_busy_ns=1990005000 steal_ns=10000070
beat ticks=3000001000 machine_busy_ns=2979005000 steal_ns=21000070
beat ticks=4000001000 machine_busy_ns=3979005000 steal_ns=21000070
stop ticks=5000001000
`

// TestStealMakesTimesLikely: switches do not show that the host ran others on a CPU.
func TestStealMakesTimesLikely(t *testing.T) {
	tr := tracetest.OpenText(t, ofSteal)
	const ms = 1e6
	for _, c := range []struct {
		name     string
		from, to int64
		want     format.Quality
	}{
		{"nothing was taken", 100 * ms, 900 * ms, format.Exact},
		{"as much as is tolerated", 1100 * ms, 1900 * ms, format.Exact},
		{"more", 2100 * ms, 2200 * ms, format.Likely},
		{"more, in a part of it", 1900 * ms, 2100 * ms, format.Likely},
		{"little of all", 100 * ms, 4000 * ms, format.Exact},
		{"after the last heartbeat", 4100 * ms, 4200 * ms, format.Exact},
	} {
		x := newIndex(stealOf(tr))
		x.add(&Interval{Goid: 7, From: 0, To: 5000 * ms, State: CPU, On: true, Thread: 1})
		x.done(&Facts{Stretches: []gotrace.Stretch{{From: 0, To: 5000 * ms}}})
		if ns, q := x.at(7, c.from, c.to); ns != c.to-c.from || q != c.want {
			t.Errorf("%s: %d (%v), want %d (%v)", c.name, ns, q, c.to-c.from, c.want)
		}
		x = newIndex(stealOf(tr))
		x.add(&Interval{Goid: 7, From: 0, To: 5000 * ms, State: Running, Thread: 1})
		x.done(&Facts{Stretches: []gotrace.Stretch{{From: 0, To: 5000 * ms}}})
		if _, q := x.at(7, c.from, c.to); q != format.AtMost {
			t.Errorf("%s: a bound is %v", c.name, q)
		}
	}
	if s := stealOf(tracetest.OpenText(t, "header clock=monotonic path=go start=1000 mono=1000\nstate closed=1 tick=9000\nchunk blocks sealed\nbeat ticks=1000 user_ns=1\nstop ticks=9000\n")); s.much(0, 8000) {
		t.Error("nothing is known, and much was taken")
	}
}
