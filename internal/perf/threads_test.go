package perf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

func threadsInto(k *kept) *threads {
	return &threads{
		m:     map[uint32]*thread{},
		out:   queue{write: func(p []byte) bool { return k.Block(format.BlockSwitch, p) }},
		clock: func(uint32) (int64, bool) { return 0, false },
	}
}

// text formats blocks: the thread, its flags, from when to when, on or off, the
// switches.
func text(list []format.Switches) string {
	var all []string
	for _, s := range list {
		flags := ""
		for _, f := range []struct {
			set  bool
			name string
		}{{s.First, "first "}, {s.Lost, "lost "}} {
			if f.set {
				flags += f.name
			}
		}
		state := map[bool]string{true: "on", false: "off"}[s.On]
		line := fmt.Sprintf("%d %s%d-%d %s", s.Thread, flags, s.Base, s.Until, state)
		for _, w := range s.List {
			line += fmt.Sprintf(" %s@%d", []string{"in", "out", "put", "data", "text"}[w.How], w.Time)
		}
		all = append(all, line)
	}
	return strings.Join(all, "; ")
}

func TestThreads(t *testing.T) {
	const flush, rest = what(100), what(101) // flushes up to the time
	for _, c := range []struct {
		name string
		list []record
		want string
	}{
		{"one that was waiting", []record{{100, 7, in}, {150, 7, out}, {200, 0, flush}}, "7 first 10-200 off in@100 out@150"},
		{"one that was running", []record{{100, 7, out}, {200, 0, flush}}, "7 first 10-200 on out@100"},
		{"of which nothing is known", []record{{200, 0, rest}}, ""},
		{"what is known goes on", []record{{100, 7, in}, {200, 0, flush}, {250, 7, out}, {300, 0, flush}}, "7 first 10-200 off in@100; 7 200-300 on out@250"},
		{"put off the CPU, the next block says so", []record{{100, 7, in}, {150, 7, preempted}, {200, 0, flush}, {250, 7, in}, {300, 0, flush}},
			"7 first 10-200 off in@100 put@150; 7 200-300 off put@200 in@250"},
		{"one that does nothing has few records", []record{{100, 7, in}, {150, 7, out}, {200, 0, flush}, {300, 0, flush}, {400, 0, rest}},
			"7 first 10-200 off in@100 out@150; 7 200-400 off"},
		{"one that runs all the time has records", []record{{100, 7, in}, {200, 0, flush}, {300, 0, flush}}, "7 first 10-200 off in@100; 7 200-300 on"},
		{"a life", []record{{100, 8, born}, {110, 8, in}, {120, 8, out}, {130, 8, in}, {140, 8, died}, {200, 0, rest}},
			"8 first 100-140 off in@110 out@120 in@130 out@140"},
		{"a number that is used again", []record{{100, 8, in}, {140, 8, died}, {150, 8, born}, {160, 8, in}, {170, 8, died}},
			"8 first 100-140 on out@140; 8 first 150-170 off in@160 out@170"},
		{"one came out of turn: between is lost", []record{{100, 7, in}, {150, 7, in}, {200, 0, flush}}, "7 first 10-100 off in@100; 7 lost 150-200 on"},
		{"one came late", []record{{100, 7, in}, {200, 0, flush}, {190, 7, out}, {250, 7, in}, {260, 7, out}, {300, 0, flush}},
			"7 first 10-200 off in@100; 7 lost 200-300 off in@250 out@260"},
		{"a ring was full", []record{{100, 7, in}, {120, 0, gapFrom}, {130, 7, out}, {140, 0, gapTo}, {150, 7, in}, {200, 0, flush}},
			"7 first 10-120 off in@100; 7 lost 140-200 off in@150"},
		{"two rings were full", []record{{100, 7, in}, {120, 0, gapFrom}, {130, 0, gapFrom}, {140, 0, gapTo}, {145, 7, out}, {150, 0, gapTo}, {160, 7, in}, {200, 0, flush}},
			"7 first 10-120 off in@100; 7 lost 150-200 off in@160"},
		{"it waited for pages", []record{{100, 7, out}, {500, 7, in}, {510, 7, dataFault}, {90_000, 7, out}, {99_000, 7, in}, {99_010, 7, textFault}, {200_000, 0, flush}},
			"7 first 10-200000 on data@100 in@500 text@90000 in@99000"},
		{"for two, one right after the other", []record{{100, 7, out}, {500, 7, in}, {510, 7, dataFault}, {520, 7, out}, {600, 7, in}, {610, 7, textFault}, {700, 0, flush}},
			"7 first 10-700 on data@100 in@500 text@520 in@600"},
		{"it waited several times for one, and was put off between", []record{{100, 7, out}, {200, 7, in}, {210, 7, preempted}, {220, 7, in}, {230, 7, out}, {240, 7, in}, {250, 7, dataFault}, {300, 0, flush}},
			"7 first 10-300 on data@100 in@200 put@210 in@220 data@230 in@240"},
		{"it waited for something else, and the page was there soon", []record{{100, 7, out}, {200, 7, in}, {200 + format.AfterFault, 7, dataFault}, {90_000, 0, flush}},
			"7 first 10-90000 on out@100 in@200"},
		{"and before for something else", []record{{100, 7, out}, {200, 7, in}, {200 + format.AfterFault, 7, out}, {80_000, 7, in}, {80_010, 7, dataFault}, {90_000, 0, flush}},
			"7 first 10-90000 on out@100 in@200 data@30200 in@80000"},
		{"for a page, since the block before", []record{{100, 7, in}, {150, 7, out}, {200, 0, flush}, {250, 7, in}, {260, 7, textFault}, {300, 0, flush}},
			"7 first 10-200 off in@100 out@150; 7 200-300 off text@200 in@250"},
		{"a page fault without a wait", []record{{100, 7, out}, {110, 7, in}, {200, 0, flush}, {210, 7, dataFault}, {300, 0, flush}}, "7 first 10-200 on out@100 in@110; 7 200-300 on"},
		{"one of a thread that is not known", []record{{100, 9, dataFault}, {110, 9, textFault}, {200, 0, flush}}, ""},
		{"one in a gap", []record{{100, 7, out}, {110, 7, in}, {120, 0, gapFrom}, {130, 7, dataFault}, {140, 0, gapTo}, {150, 7, out}, {200, 0, flush}},
			"7 first 10-120 on out@100 in@110; 7 lost 140-200 on out@150"},
		{"it died in a gap", []record{{100, 7, in}, {120, 0, gapFrom}, {130, 7, died}, {140, 0, gapTo}, {200, 0, rest}}, "7 first 10-120 off in@100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKept(t)
			ts := threadsInto(k)
			ts.exists(7, 10)
			for i := range c.list {
				switch r := &c.list[i]; r.what {
				case flush, rest:
					ts.flush(r.time, r.what == rest)
				default:
					ts.add(r)
				}
			}
			if got := text(k.all); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestThreadsThatNeverSwitch: the state of a thread that never switches is taken from
// its CPU clock.
func TestThreadsThatNeverSwitch(t *testing.T) {
	k := newKept(t)
	ts := threadsInto(k)
	cpu := map[uint32]int64{7: 1000, 8: 1000}
	ts.clock = func(tid uint32) (int64, bool) { return cpu[tid], true }
	ts.exists(7, 10)
	ts.exists(8, 10)
	cpu[7] += 990
	ts.flush(1010, true)
	got := map[uint32]bool{}
	for _, s := range k.all {
		got[s.Thread] = s.On
	}
	if on, ok := got[7]; len(got) != 2 || !on || !ok || got[8] {
		t.Errorf("on a CPU are %v, want 7 and not 8", got)
	}
}

// TestNoRoom: blocks for which there is no room are written when there is, in order;
// those beyond the limit are lost, and the next block is marked.
func TestNoRoom(t *testing.T) {
	k := newKept(t)
	ts := threadsInto(k)
	ts.exists(7, 10)
	k.full = true
	now := int64(100)
	turns := func(n int) {
		for range n {
			ts.add(&record{now, 7, in})
			ts.add(&record{now + 1, 7, out})
			now += 10
		}
		ts.flush(now, false)
	}
	turns(5)
	turns(5)
	k.full = false
	turns(5)
	if len(k.all) != 3 || k.all[0].Until != k.all[1].Base || k.all[1].Until != k.all[2].Base || k.all[2].Lost {
		t.Fatal(text(k.all))
	}
	k.full = true
	for ts.out.size < maxWaiting-100_000 {
		turns(longest)
	}
	turns(100_000)
	k.full = false
	turns(1)
	turns(1)
	lost := 0
	for i, s := range k.all {
		if s.Lost {
			lost++
		} else if i > 0 && s.Base != k.all[i-1].Until {
			t.Errorf("block %d begins at %d, and the one before ended at %d", i, s.Base, k.all[i-1].Until)
		}
	}
	if lost == 0 {
		t.Error("nothing says that something was lost")
	}
}
