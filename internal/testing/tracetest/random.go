package tracetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Random is a trace of some thousand records that has what makes reading them depend
// on one another: scopes that cross, are open, or ended apart by others; pending events that
// come chunks later; rows that get names; steps of the clock; and, if it is bad, records
// that make no sense.
func Random(t testing.TB, seed uint64, bad bool) []byte {
	rnd := rand.New(rand.NewPCG(seed, 7))
	const owners, names, goroutines = 4, 9, 7
	now := int64(2000)
	var b strings.Builder
	fmt.Fprintf(&b, "header rate=%d\nstate closed=%d tick=999999\nchunk blocks sealed\n", []int64{1e9, 3e9, 999_999_937}[rnd.IntN(3)], rnd.IntN(2))
	for id := 2; id < 2+names; id++ {
		fmt.Fprintf(&b, "name %d \"n%d\"\n", id, id)
	}
	for i := range rnd.Int64N(4) {
		fmt.Fprintf(&b, "break before=%d after=%d\n", 20_000*i+rnd.Int64N(20_000)+3000, 20_000*i+rnd.Int64N(20_000)+3500)
	}
	b.WriteString("stop ticks=999999\n")

	type begun struct {
		label string
		kind  string
		start int64
		goid  int
	}
	var open []begun
	chunks := make([]strings.Builder, owners) // the current ones
	units := make([]int, owners)
	labels := 0
	flush := func(o int) {
		b.WriteString(chunks[o].String())
		chunks[o].Reset()
		units[o] = 0
	}
	line := func(o, n int, format string, args ...any) {
		if units[o]+n > 120 {
			flush(o)
		}
		if units[o] == 0 {
			since := now
			if rnd.IntN(4) == 0 {
				since -= rnd.Int64N(500)
			}
			fmt.Fprintf(&chunks[o], "chunk records owner=%d since=%d flags=ends,final sealed\n", o, since)
			if rnd.IntN(5) > 0 {
				fmt.Fprintf(&chunks[o], "anchor start=%d thread=%d cpu=5\n", now, 10+rnd.IntN(3))
				units[o]++
			}
		}
		fmt.Fprintf(&chunks[o], format+"\n", args...)
		units[o] += n
	}
	qualities := []string{"unknown", "exact", "likely", "most"}
	for range 3000 {
		o, g := rnd.IntN(owners), rnd.IntN(goroutines)
		name := fmt.Sprintf("%q", fmt.Sprint("n", 2+rnd.IntN(names)))
		now += rnd.Int64N(40) // equal starts too
		start := now
		if rnd.IntN(10) == 0 {
			start -= rnd.Int64N(100)
		}
		stop := start + rnd.Int64N([]int64{1, 50, 2000, 60_000}[rnd.IntN(4)])
		if bad && rnd.IntN(30) == 0 {
			stop = start - rnd.Int64N(1000)
		}
		args, n := "", 1
		if rnd.IntN(4) == 0 {
			args, n = fmt.Sprintf(" | int:%d string:\"x\"", rnd.IntN(100)), 3
		}
		cpu := fmt.Sprintf("%d/%s", rnd.IntN(1000), qualities[rnd.IntN(4)])
		kind := []string{"task", "task", "task", "taskf", "wait", "hold", "pending", "process"}[rnd.IntN(8)]
		switch what := rnd.IntN(20); {
		case what < 9:
			line(o, n, "%s %s g=%d start=%d stop=%d cpu=%s%s", kind, name, g, start, stop, cpu, args)
		case what < 12:
			labels++
			x := begun{fmt.Sprint("@l", labels), kind, start, g}
			line(o, n, "%s %s %s g=%d start=%d open tid=12%s", kind, name, x.label, g, start, args)
			open = append(open, x)
		case what < 15 && len(open) > 0:
			i := rnd.IntN(len(open))
			x := open[i]
			open[i] = open[len(open)-1]
			if open = open[:len(open)-1]; rnd.IntN(3) == 0 {
				open = append(open, x) // it may end twice
			}
			by := x.goid
			if rnd.IntN(3) == 0 {
				by = g
			}
			if bad && rnd.IntN(10) == 0 {
				x.start++
			}
			line(o, 3, "end %s g=%d start=%d begin=%d cpu=%s | loc:%s goid:%d int:7", name, by, start, x.start, cpu, x.label, x.goid)
		case what == 15:
			line(o, 1, "track %s g=%d start=%d", name, g, start)
		case what == 16:
			line(o, 1, "go %s g=%d start=%d created=%d creator=%d", name, g, start, start-20, rnd.IntN(goroutines))
		case what == 17:
			line(o, n, "counter %s g=%d start=%d value=int:%d%s", name, g, start, rnd.IntN(50), args)
		case what == 18 && bad:
			switch rnd.IntN(4) {
			case 0:
				line(o, 1, "hole")
			case 1:
				line(o, 1, "kind-%d %s start=%d w1=5", 70+rnd.IntN(3), name, start)
			case 2:
				line(o, 1, "ext int:1 int:2 int:3")
			case 3:
				line(o, 1, "task %s g=%d start=%d stop=%d noext", name, g, start, stop)
			}
		default:
			line(o, n, "event %s g=%d start=%d%s", name, g, start, args)
		}
	}
	for o := range owners {
		flush(o)
	}
	return Assemble(t, b.String())
}
