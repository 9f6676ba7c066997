package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// machine is a simulated machine. Its clock reads offset + t × (1 + drift) at the true time t.
type machine struct {
	name   string
	offset int64
	drift  float64
	jump   int64 // of its clock, after half of the time
	scopes []string
	truth  []truth
}

// truth is the true time of a scope.
type truth struct{ start, stop int64 }

// wall0 is the true time at which all machines begin.
const wall0 = int64(1_700_000_000e9)

func (m *machine) clock(t, of int64) int64 {
	c := t + m.offset + int64(m.drift*float64(t))
	if t > of/2 {
		c += m.jump
	}
	return c
}

// add adds a scope of a request.
func (m *machine) add(start, stop, of int64, span, parent int) {
	m.truth = append(m.truth, truth{start, stop})
	m.scopes = append(m.scopes, fmt.Sprintf("%020d  task \"%d\" g=%d start=%d stop=%d cpu=0/unknown | addr:0x1 addr:0x2 addr:%#x addr:%#x\n",
		start, len(m.truth)-1, 1+len(m.truth), m.clock(start, of)+1000, m.clock(stop, of)+1000, span, parent))
}

// trace returns the machine's recording.
func (m *machine) trace(number int, of int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "header id=%02x chunk=65536 pid=%d clock=monotonic wall=%d start=1000 mono=%d rate=1000000000\n", number+1, 100+number, wall0, 5e9*int64(number))
	end := of + m.offset + m.jump + int64(m.drift*float64(of)) + 2000
	fmt.Fprintf(&b, "state closed=1 tick=%d\nchunk blocks sealed\ninfo \"program\" %q\ninfo \"host\" %q\ninfo \"boot\" %q\n", end, m.name, m.name, m.name)
	for i := range m.truth {
		fmt.Fprintf(&b, "name %d \"%d\"\n", format.FirstName+i, i)
	}
	fmt.Fprintf(&b, "stop ticks=%d\nchunk records path=go since=1000 sealed\n", end)
	slices.Sort(m.scopes)
	for _, line := range m.scopes {
		b.WriteString(line[20:])
	}
	return b.String()
}

// simulate makes each machine of a chain call the next one, n times in of ns. The network takes at
// least fastest ns each way.
func simulate(machines []*machine, n int, of, fastest int64, r *rand.Rand) {
	span := 1
	for i := range len(machines) - 1 {
		for k := range n {
			way := func() int64 { return fastest + int64(r.ExpFloat64()*float64(4*fastest)) }
			start := of*int64(k)/int64(n) + r.Int64N(of/int64(2*n))
			there := way()
			work := int64(r.ExpFloat64() * float64(fastest))
			machines[i].add(start, start+there+work+way(), of, span, 0)
			machines[i+1].add(start+there, start+there+work, of, span+1, span)
			span += 2
		}
	}
}

// TestClocks checks against the truth that no time of the merged trace is wrong by more than its
// error bound, and that this bound is not much more than the network takes.
func TestClocks(t *testing.T) {
	const ms = int64(1e6)
	for _, test := range []struct {
		name     string
		machines []*machine
		n        int
		of       int64
		pairs    bool
		errors   []int64 // largest error bounds; -1: not known
		violated []bool
	}{
		{"offset", []*machine{{name: "a"}, {name: "b", offset: 7_000 * ms}}, 100, 1000 * ms, true, []int64{0, ms}, []bool{false, false}},
		{"behind", []*machine{{name: "a", offset: 3 * ms}, {name: "b", offset: 1 * ms}}, 100, 1000 * ms, true, []int64{0, ms}, []bool{false, false}},
		{"over another", []*machine{{name: "a", offset: 9 * ms}, {name: "b"}, {name: "c", offset: 55 * ms}, {name: "d", offset: 20 * ms}}, 100, 1000 * ms, true, []int64{0, ms, 2 * ms, 3 * ms}, []bool{false, false, false, false}},
		{"drift", []*machine{{name: "a"}, {name: "b", offset: 7 * ms, drift: 60e-6}}, 200, 1000_000 * ms, true, []int64{0, 2 * ms}, []bool{false, false}},
		{"drift over another", []*machine{{name: "a", drift: -20e-6}, {name: "b", offset: 7 * ms, drift: 40e-6}, {name: "c", drift: -30e-6}}, 200, 1000_000 * ms, true, []int64{0, 2 * ms, 4 * ms}, []bool{false, false, false}},
		{"jump", []*machine{{name: "a"}, {name: "b", jump: 50 * ms}}, 100, 1000 * ms, true, []int64{0, 26 * ms}, []bool{false, true}},
		{"no pairs", []*machine{{name: "a"}, {name: "b", offset: 7 * ms}}, 100, 1000 * ms, false, []int64{0, -1}, []bool{false, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(5) {
				list := make([]*machine, len(test.machines))
				for i, m := range test.machines {
					c := *m
					list[i] = &c
				}
				simulate(list, test.n, test.of, ms/5, rand.New(rand.NewPCG(seed, 1)))
				var paths []string
				for i, m := range list {
					if !test.pairs {
						for k := range m.scopes {
							m.scopes[k] = m.scopes[k][:strings.Index(m.scopes[k], " |")] + "\n"
						}
					}
					paths = append(paths, ofText(t, m.name+".scope", m.trace(i, test.of)))
				}
				tr, report := merged(t, paths...)
				if (report.Pairs > 0) != test.pairs {
					t.Errorf("%d pairs", report.Pairs)
				}
				worst := compareWithTruth(t, tr, list)
				for _, p := range tr.Processes() {
					i := int(p.PID - 100)
					if p.Violated != test.violated[i] || (p.Error < 0) != (test.errors[i] < 0) || p.Error > test.errors[i] {
						t.Errorf("seed %d, %s: error %d, violated %v, want at most %d, %v", seed, p.Label, p.Error, p.Violated, test.errors[i], test.violated[i])
					}
					if p.Error >= 0 && !p.Violated && worst[i] > p.Error+2 {
						t.Errorf("seed %d, %s: its times are wrong by %d, and the maximum is given as %d", seed, p.Label, worst[i], p.Error)
					}
				}
			}
		})
	}
}

// compareWithTruth returns the largest error of each machine's times, against the first machine's
// clock.
func compareWithTruth(t *testing.T, tr *trace.Trace, list []*machine) (worst map[int]int64) {
	t.Helper()
	worst = map[int]int64{}
	base := tr.Start().UnixNano() - wall0
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		p, ok := tr.ProcessOf(e.Goid)
		if !ok || e.Kind != format.KindTask {
			continue
		}
		var k int
		fmt.Sscan(tr.Name(e.Name), &k)
		i := int(p.PID - 100)
		// The first machine's clock at the true times.
		start := list[0].clock(list[i].truth[k].start, math.MaxInt64)
		stop := list[0].clock(list[i].truth[k].stop, math.MaxInt64)
		worst[i] = max(worst[i], abs(e.Start+base-start), abs(e.Start+e.Dur+base-stop))
	}
	return worst
}

func abs(n int64) int64 { return max(n, -n) }

// TestBounds checks that the error of two pairs is half of the room that both leave, and the drift
// by which the clocks may differ meanwhile.
func TestBounds(t *testing.T) {
	f := fitted([]point{{0, -30}, {10, -10}}, []point{{5, 50}, {9, 20}}, 0, 1)
	if f.violated || f.slope != 0 || math.Abs(f.add-5) > 0.01 || math.Abs(f.err-15) > 0.01 {
		t.Errorf("%+v", f)
	}
	f = fitted([]point{{0, 30}}, []point{{5, 10}}, 0, 1)
	if !f.violated || math.Abs(f.err-10) > 0.01 || math.Abs(f.add-20) > 0.01 {
		t.Errorf("%+v", f)
	}
}

// TestHull checks that the hull of random bounds touches the same lines.
func TestHull(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		var points []point
		for range 1 + r.IntN(30) {
			points = append(points, point{float64(r.IntN(50)), float64(r.IntN(50))})
		}
		all := bounds{points, points}
		some := bounds{hull(points, 1), hull(points, -1)}
		for s := -60.0; s <= 60; s += 0.37 {
			if math.Abs(all.low(s)-some.low(s)) > 1e-9 || math.Abs(all.high(s)-some.high(s)) > 1e-9 {
				t.Fatalf("slope %v of %v: %v and %v, want %v and %v", s, points, some.low(s), some.high(s), all.low(s), all.high(s))
			}
		}
	}
}

// TestManyLinks checks that, with more scopes than are kept, every input keeps those of the same
// spans.
func TestManyLinks(t *testing.T) {
	const n = 1 << 14
	x := &links{most: n, spans: map[spanID]timed{}, children: map[spanID][]timed{}}
	var l format.Link
	l.Trace[15] = 1
	put := func(b *[8]byte, n uint32) {
		for i := range 4 {
			b[i] = byte(n >> (8 * i))
		}
	}
	for i := range uint32(n) {
		l.Span, l.Parent = [8]byte{}, [8]byte{}
		put(&l.Span, i+1)
		x.add(&l, timed{0, 100, 200})
	}
	for i := range uint32(n) {
		l.Span, l.Parent = [8]byte{7: 1}, [8]byte{}
		put(&l.Parent, i+1)
		x.add(&l, timed{1, 110, 150})
	}
	for range 2 * mostChildren { // parts of one scope
		put(&l.Parent, 5)
		x.add(&l, timed{1, 110, 150})
	}
	groups := []*group{{from: 1}, {from: 2}}
	edges, pairs := x.edges([]*input{{group: groups[0]}, {group: groups[1]}}, groups)
	if x.count > n || pairs < n/16 || len(edges) != 1 {
		t.Errorf("%d pairs of %d scopes that are remembered, %d edges", pairs, x.count, len(edges))
	}
}

// TestFamily checks that a child comes below its parent, whatever the order of the traces; a
// process of another machine with that id is no parent.
func TestFamily(t *testing.T) {
	head := func(number int, name, boot string, pid, ppid int, start int64) string {
		return ofText(t, name+".scope", fmt.Sprintf(`header id=%02x pid=%d clock=monotonic wall=%d mono=%d rate=1000000000
state closed=1 tick=9000
chunk blocks sealed
info "program" %q
info "boot" %q
info "ppid" "%d"
stop ticks=9000
`, number, pid, wall0+start, 1e9+start, name, boot, ppid))
	}
	tr, _ := merged(t,
		head(1, "grandchild", "x", 12, 11, 300), head(2, "other", "y", 11, 1, 0), head(3, "child", "x", 11, 10, 200),
		head(4, "second", "x", 13, 10, 250), head(5, "parent", "x", 10, 12, 100))
	var got []string
	for _, p := range tr.Processes() {
		got = append(got, fmt.Sprintf("%d %s of %d", p.Number, p.Program, p.Parent))
	}
	want := []string{"1 other of 0", "2 parent of 0", "3 child of 2", "4 grandchild of 3", "5 second of 2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBoot checks that, without boot ids, hosts and clocks identify a machine.
func TestBoot(t *testing.T) {
	head := func(number int, host string, wall, mono int64) string {
		return ofText(t, fmt.Sprintf("%d.scope", number), fmt.Sprintf(`header id=%02x pid=%d clock=monotonic wall=%d mono=%d rate=1000000000
state closed=1 tick=9000
chunk blocks sealed
info "host" %q
stop ticks=9000
`, number, number, wall, mono, host))
	}
	tr, _ := merged(t, head(1, "one", wall0, 1e9), head(2, "one", wall0+1e9+5e8, 2e9), head(3, "two", wall0, 1e9), head(4, "one", wall0, 90e9))
	for _, p := range tr.Processes() {
		want := map[uint32]int64{1: 0, 2: 0, 3: -1, 4: -1}[p.PID]
		if p.Error != want || p.PID == 2 && (p.From != 1e9 || p.Offset != -5e8) {
			t.Errorf("%+v, want an error of %d", p, want)
		}
	}
}

// TestRefused checks the errors for inputs that can't be merged, and that of two traces of one run
// the longer is used.
func TestRefused(t *testing.T) {
	one := func(id, wall, tick int64) string {
		return ofText(t, fmt.Sprintf("%d-%d.scope", id, tick), fmt.Sprintf("header id=%02x pid=5 clock=monotonic wall=%d rate=1000000000\nstate closed=1 tick=%d\nchunk blocks sealed\nname 2 \"f\"\nstop ticks=%d\n", id, wall, tick, tick))
	}
	ctx, out := context.Background(), filepath.Join(t.TempDir(), "out.scope")
	for _, test := range []struct {
		want   string
		inputs []Input
	}{
		{ErrFew.Error(), []Input{{Path: one(1, wall0, 2000)}, {Path: one(1, wall0, 3000)}}},
		{" days apart", []Input{{Path: one(1, wall0, 2000)}, {Path: one(2, 1000, 3000)}}},
		{"are invalid", []Input{{Path: one(1, wall0, 2000)}, {Path: one(2, math.MaxInt64, 3000)}}},
	} {
		if _, err := Files(ctx, test.inputs, out, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	tr, report := merged(t, one(1, wall0, 2000), one(1, wall0, 3000), one(2, wall0, 2500), one(2, wall0, 2400))
	want := [][2]string{{"1-2000.scope", "1-3000.scope"}, {"2-2400.scope", "2-2500.scope"}}
	if !slices.Equal(report.Same, want) || len(tr.Processes()) != 2 || cmp.Compare(tr.End(), 2000) != 0 {
		t.Errorf("%v, %d processes, to %d", report.Same, len(tr.Processes()), tr.End())
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Files(stopped, []Input{{Path: one(1, wall0, 2000)}, {Path: one(2, wall0, 3000)}}, out, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	// So many processes leave too little room for a goroutine's id.
	in := &input{t: tr, number: 3, shift: shiftOf(1 << 15)}
	if _, err := in.goid(1<<23, 0, 0); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}
