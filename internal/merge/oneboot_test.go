package merge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
)

// ofBoot is a process of the common boot id. Its monotonic clock reads off more than that of the
// others, and its wall clock wall more.
type ofBoot struct {
	off, wall int64
	fact      string     // monotonic_offset
	calibs    []int64    // how much more the wall clock is ahead in the heartbeats' calibrations
	scopes    [][4]int64 // start, stop by true time, span, parent
}

func (p *ofBoot) file(t *testing.T, number int) string {
	const mono = int64(100e9) // at the start
	var b strings.Builder
	fmt.Fprintf(&b, "header id=%02x pid=%d clock=monotonic wall=%d start=1000 mono=%d rate=1000000000\nstate closed=1 tick=2000000000\nchunk blocks sealed\n", number, 100+number, wall0+p.wall, mono+p.off)
	fmt.Fprintf(&b, "info \"boot\" \"b\"\ninfo \"program\" \"p%d\"\nname 2 \"s\"\n", number)
	if p.fact != "" {
		fmt.Fprintf(&b, "info \"monotonic_offset\" %q\n", p.fact)
	}
	for i, ahead := range p.calibs {
		fmt.Fprintf(&b, "calib ticks=%d mono=%d wall=%d bracket=1\n", 1000+i, mono+p.off+int64(i), wall0+p.wall+ahead+int64(i))
	}
	b.WriteString("stop ticks=2000000000\nchunk records path=go since=1000 sealed\n")
	for i, s := range p.scopes {
		fmt.Fprintf(&b, "task \"s\" g=%d start=%d stop=%d cpu=0/unknown | addr:0x1 addr:0x2 addr:%#x addr:%#x\n", 1+i, 1000+s[0], 1000+s[1], s[2], s[3])
	}
	return ofText(t, fmt.Sprintf("p%d.scope", number), b.String())
}

// TestOneBoot checks that the same boot id means one monotonic clock, unless wall clocks or
// requests refute it, and that contradictions are recorded.
func TestOneBoot(t *testing.T) {
	const ms, s = int64(1e6), int64(1e9)
	call := func(k int64) [4]int64 { return [4]int64{s + k*10*ms, s + k*10*ms + 8*ms, k, 0} }
	serve := func(k, early int64) [4]int64 {
		return [4]int64{s + k*10*ms + 1*ms - early, s + k*10*ms + 7*ms - early, 100 + k, k}
	}
	calls := [][4]int64{call(1), call(2), call(3)}
	served := func(early ...int64) (list [][4]int64) {
		for i, e := range early {
			list = append(list, serve(int64(i+1), e))
		}
		return list
	}
	for _, test := range []struct {
		name     string
		a, b     ofBoot
		from     int64 // of b, in the merged trace
		err      int64 // at least; at most with the clocks' possible drift
		apart    bool
		violated bool
		pairs    int64
	}{
		{name: "one clock", a: ofBoot{scopes: calls}, b: ofBoot{scopes: served(0, 0, 0)}},
		{name: "time namespace", a: ofBoot{scopes: calls}, b: ofBoot{off: 5000 * s, scopes: served(0, 0, 0)}, err: 1 * ms, apart: true, pairs: 3},
		{name: "it calls", a: ofBoot{scopes: served(0, 0, 0)}, b: ofBoot{off: -5000 * s, scopes: calls}, err: 1 * ms, apart: true, pairs: 3},
		{name: "without requests", b: ofBoot{off: 5000 * s}, err: -1, apart: true},
		{name: "its offset is known", a: ofBoot{scopes: calls}, b: ofBoot{off: 5000 * s, fact: "5000000000000", scopes: served(0, 0, 0)}},
		{name: "of both", a: ofBoot{off: -3 * s, fact: "-3000000000", scopes: calls}, b: ofBoot{off: 5000 * s, fact: "5000000000000", scopes: served(0, 0, 0)}},
		{name: "copies of a machine", a: ofBoot{scopes: calls}, b: ofBoot{scopes: served(600*ms, 600*ms, 600*ms)}, from: 600 * ms, err: 1 * ms, apart: true, pairs: 3},
		{name: "one of three", a: ofBoot{scopes: calls}, b: ofBoot{scopes: served(0, 3*ms, 0)}, err: 2 * ms, violated: true},
		{name: "nobody waits", a: ofBoot{scopes: calls}, b: ofBoot{scopes: served(-50*ms, -60*ms, -80*ms)}, err: 79 * ms, violated: true},
		{name: "one ends later", a: ofBoot{scopes: calls}, b: ofBoot{scopes: served(0, -5*ms, 0)}},
		{name: "the wall clock was set before", a: ofBoot{scopes: calls, calibs: []int64{0, 900 * s}}, b: ofBoot{wall: 900 * s, scopes: served(0, 0, 0)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr, report := merged(t, test.a.file(t, 1), test.b.file(t, 2))
			var a, b trace.Process
			for _, p := range tr.Processes() {
				if p.PID == 101 {
					a = p
				} else {
					b = p
				}
			}
			if a.Error != 0 || a.Apart || a.Violated {
				t.Errorf("the first one: %+v", a.Member)
			}
			if near := abs(b.From - a.From - test.from); near > max(test.err, 0) || b.Error < test.err || b.Error > test.err+300_000*min(test.pairs, 1) || b.Apart != test.apart || b.Violated != test.violated || report.Pairs != test.pairs {
				t.Errorf("from %d, error %d, apart %v, violated %v, %d pairs; want %+v", b.From-a.From, b.Error, b.Apart, b.Violated, report.Pairs, test)
			}
		})
	}
}
