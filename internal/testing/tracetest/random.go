package tracetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Random returns a trace of some thousand records with all dependencies between records:
// scopes that cross, are open, or are ended separately by others; pending events that come
// chunks later; rows that get names; steps of the clock; and, if bad, invalid records.
func Random(t testing.TB, seed uint64, bad bool) []byte {
	r := &random{Rand: rand.New(rand.NewPCG(seed, 7)), bad: bad, now: 2000}
	r.begin()
	for range 3000 {
		r.step()
	}
	for o := range r.chunks {
		r.flush(o)
	}
	return Assemble(t, r.text.String())
}

const randomNames, randomGoroutines = 9, 7

// random writes a trace as text.
type random struct {
	*rand.Rand
	bad    bool
	now    int64
	text   strings.Builder
	chunks [4]randomChunk // the current one of each owner
	labels int
	open   []begun
}

type randomChunk struct {
	lines strings.Builder
	units int
}

// begun is an open scope.
type begun struct {
	label string
	kind  string
	start int64
	goid  int
}

func (r *random) begin() {
	fmt.Fprintf(&r.text, "header rate=%d\nstate closed=%d tick=999999\nchunk blocks sealed\n", []int64{1e9, 3e9, 999_999_937}[r.IntN(3)], r.IntN(2))
	for id := 2; id < 2+randomNames; id++ {
		fmt.Fprintf(&r.text, "name %d \"n%d\"\n", id, id)
	}
	for i := range r.Int64N(4) {
		fmt.Fprintf(&r.text, "break before=%d after=%d\n", 20_000*i+r.Int64N(20_000)+3000, 20_000*i+r.Int64N(20_000)+3500)
	}
	r.text.WriteString("stop ticks=999999\n")
}

func (r *random) flush(owner int) {
	c := &r.chunks[owner]
	r.text.WriteString(c.lines.String())
	c.lines.Reset()
	c.units = 0
}

// line writes a record of n units to the owner's chunk.
func (r *random) line(owner, n int, format string, args ...any) {
	c := &r.chunks[owner]
	if c.units+n > 120 {
		r.flush(owner)
	}
	if c.units == 0 {
		since := r.now
		if r.IntN(4) == 0 {
			since -= r.Int64N(500)
		}
		fmt.Fprintf(&c.lines, "chunk records owner=%d since=%d flags=ends,final sealed\n", owner, since)
		if r.IntN(5) > 0 {
			fmt.Fprintf(&c.lines, "anchor start=%d thread=%d cpu=5\n", r.now, 10+r.IntN(3))
			c.units++
		}
	}
	fmt.Fprintf(&c.lines, format+"\n", args...)
	c.units += n
}

// step writes a record of any kind.
func (r *random) step() {
	o, g := r.IntN(len(r.chunks)), r.IntN(randomGoroutines)
	name := fmt.Sprintf("%q", fmt.Sprint("n", 2+r.IntN(randomNames)))
	r.now += r.Int64N(40) // equal starts occur
	start := r.now
	if r.IntN(10) == 0 {
		start -= r.Int64N(100)
	}
	stop := start + r.Int64N([]int64{1, 50, 2000, 60_000}[r.IntN(4)])
	if r.bad && r.IntN(30) == 0 {
		stop = start - r.Int64N(1000)
	}
	args, n := "", 1
	if r.IntN(4) == 0 {
		args, n = fmt.Sprintf(" | int:%d string:\"x\"", r.IntN(100)), 3
	}
	cpu := fmt.Sprintf("%d/%s", r.IntN(1000), []string{"unknown", "exact", "likely", "most"}[r.IntN(4)])
	kind := []string{"task", "task", "task", "taskf", "wait", "hold", "pending", "process"}[r.IntN(8)]
	switch what := r.IntN(20); {
	case what < 9:
		r.line(o, n, "%s %s g=%d start=%d stop=%d cpu=%s%s", kind, name, g, start, stop, cpu, args)
	case what < 12:
		r.labels++
		x := begun{fmt.Sprint("@l", r.labels), kind, start, g}
		r.line(o, n, "%s %s %s g=%d start=%d open tid=12%s", kind, name, x.label, g, start, args)
		r.open = append(r.open, x)
	case what < 15 && len(r.open) > 0:
		r.end(o, g, name, start, cpu)
	case what == 15:
		r.line(o, 1, "track %s g=%d start=%d", name, g, start)
	case what == 16:
		r.line(o, 1, "go %s g=%d start=%d created=%d creator=%d", name, g, start, start-20, r.IntN(randomGoroutines))
	case what == 17:
		r.line(o, n, "counter %s g=%d start=%d value=int:%d%s", name, g, start, r.IntN(50), args)
	case what == 18 && r.bad:
		r.wrong(o, g, name, start, stop)
	default:
		r.line(o, n, "event %s g=%d start=%d%s", name, g, start, args)
	}
}

// end writes a separate end of an open scope.
func (r *random) end(o, g int, name string, start int64, cpu string) {
	i := r.IntN(len(r.open))
	x := r.open[i]
	r.open[i] = r.open[len(r.open)-1]
	if r.open = r.open[:len(r.open)-1]; r.IntN(3) == 0 {
		r.open = append(r.open, x) // it may end twice
	}
	by := x.goid
	if r.IntN(3) == 0 && g != 0 { // 0 means that the goroutine has ended, but here it continues
		by = g
	}
	if r.bad && r.IntN(10) == 0 {
		x.start++
	}
	r.line(o, 3, "end %s g=%d start=%d begin=%d cpu=%s | loc:%s goid:%d int:7", name, by, start, x.start, cpu, x.label, x.goid)
}

// wrong writes records that no recorder writes.
func (r *random) wrong(o, g int, name string, start, stop int64) {
	switch r.IntN(4) {
	case 0:
		r.line(o, 1, "hole")
	case 1:
		r.line(o, 1, "kind-%d %s start=%d w1=5", 70+r.IntN(3), name, start)
	case 2:
		r.line(o, 1, "ext int:1 int:2 int:3")
	case 3:
		r.line(o, 1, "task %s g=%d start=%d stop=%d noext", name, g, start, stop)
	}
}
