package states

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// switched is a trace of a thread 12 that is on a CPU from 100 to 200 and from 300 to 400, and
// preempted from 400 to 500; from 600 on its state is unknown, except that it is on a CPU from 700
// to 800. Thread 13 is always on a CPU. Thread 14 waits for data from 2100 to 2200, and for
// instructions from 2300 to 2400.
const switched = `
header path=go clock=monotonic start=1000 mono=1000
state closed=1 tick=9000
chunk blocks sealed
switch thread=12 base=1000 until=1400 first in:1100 out:1200 in:1300
switch thread=12 base=1400 until=1600 on preempt:1400 in:1500
switch thread=13 base=1000 until=3000 first on
switch thread=14 base=3000 until=4000 first on page:3100 in:3200 page:3300 page:3300 in:3400
switch thread=12 base=1700 until=1800 lost on
stop ticks=9000
`

// Numbers of stacks with known meaning.
const (
	inMutex = 1 + iota
	inWaitGroup
	inWorker
)

func joinerOf(t *testing.T, f func(*Interval)) *joiner {
	t.Helper()
	all, err := newSwitches(tracetest.OpenText(t, switched), 0, 2000)
	if err != nil {
		t.Fatal(err)
	}
	j := newJoiner(&Facts{Goroutines: map[uint64]*Goroutine{}, from: 0, to: 2000}, all[0], f)
	j.info = &gotrace.Info{To: 2000}
	j.stacks = make([]stackInfo, 4)
	j.stacks[0].known = true
	j.stacks[inMutex] = stackInfo{known: true, state: Lock}
	j.stacks[inWaitGroup] = stackInfo{known: true, state: Join}
	j.stacks[inWorker] = stackInfo{known: true, kind: worker, state: Other}
	return j
}

// step processes a line such as "100 7 running on 12", or "100 stw": the state from then on.
func step(t *testing.T, j *joiner, line string, was map[uint64]gotrace.GoState) {
	t.Helper()
	var at int64
	f := strings.Fields(line)
	if _, err := fmt.Sscan(f[0], &at); err != nil {
		t.Fatal(err)
	}
	switch f[1] {
	case "stw":
		j.begun(&gotrace.Range{From: at, Name: "stop-the-world (GC mark termination)"})
		return
	case "start":
		j.ended(&gotrace.Range{To: at, Name: "stop-the-world (GC mark termination)"})
		return
	}
	tr := gotrace.Transition{Time: at, Proc: -1}
	if _, err := fmt.Sscan(f[1], &tr.Goid); err != nil {
		t.Fatal(err)
	}
	switch f[2] {
	case "assist":
		j.begun(&gotrace.Range{From: at, Name: "GC mark assist", Goid: tr.Goid})
		return
	case "helped":
		j.ended(&gotrace.Range{To: at, Name: "GC mark assist", Goid: tr.Goid})
		return
	}
	tr.From = was[tr.Goid]
	for s := gotrace.Unknown; s <= gotrace.Syscall; s++ {
		if strings.ReplaceAll(s.String(), " ", "-") == f[2] {
			tr.To = s
		}
	}
	for i := 3; i < len(f); i += 2 {
		switch f[i] {
		case "on":
			fmt.Sscan(f[i+1], &tr.Thread)
		case "proc":
			fmt.Sscan(f[i+1], &tr.Proc)
		case "by":
			fmt.Sscan(f[i+1], &tr.By)
		case "at":
			fmt.Sscan(f[i+1], &tr.Stack)
		case "new":
			tr.From = gotrace.NotExist
			i--
		default:
			tr.Reason = strings.ReplaceAll(f[i], "_", " ")
			i--
		}
	}
	was[tr.Goid] = tr.To
	j.transition(&tr)
}

func TestJoin(t *testing.T) {
	for _, c := range []struct{ name, steps, want string }{
		{"running, as the thread does", "50 7 running on 12; 550 7 waiting chan_send; 600 7 runnable by 3; 650 7 not-there",
			"50-100 stalled; 100-200 cpu; 200-300 stalled; 300-400 cpu; 400-500 preempted; 500-550 cpu; 550-600 channel woken by 3; 600-650 runnable"},
		{"a system call, as the thread does", "50 7 syscall on 12 at 1; 550 7 running on 12; 560 7 not-there",
			"50-100 blocked; 100-200 syscall; 200-300 blocked; 300-400 syscall; 400-500 preempted; 500-550 syscall; 550-560 cpu"},
		{"waits for pages", "2050 7 running on 14; 2450 7 not-there", "2050-2100 cpu; 2100-2200 datafault; 2200-2300 cpu; 2300-2400 textfault; 2400-2450 cpu"},
		{"waits for pages in C code", "2050 7 syscall on 14; 2450 7 not-there", "2050-2100 syscall; 2100-2200 datafault; 2200-2300 syscall; 2300-2400 textfault; 2400-2450 syscall"},
		{"nothing is known of the thread", "550 7 running on 12; 750 7 syscall on 12; 850 7 not-there",
			"550-600 cpu; 600-700 running; 700-750 cpu; 750-800 syscall; 800-850 syscall"},
		{"a thread that is not known at all", "50 7 running on 99; 90 7 syscall on 99; 100 7 not-there", "50-90 running; 90-100 syscall"},
		{"sync by where", "50 7 waiting sync at 1; 60 7 runnable; 70 7 running on 13; 80 7 waiting sync at 2; 90 7 not-there", "50-60 lock; 60-70 runnable; 70-80 cpu; 80-90 join"},
		{"since before the recording, by where", "50 7 waiting at 2; 60 7 not-there", "50-60 join"},
		{"helping the collector", "50 7 running on 13; 60 7 assist; 70 7 waiting GC_mark_assist_wait_for_work; 80 7 running on 12; 120 7 helped; 130 7 not-there",
			"50-60 cpu; 60-70 gc; 70-80 gc; 80-100 stalled; 100-120 gc; 120-130 cpu"},
		{"the collector's own", "50 7 runnable new at 3; 60 7 running on 13; 70 7 not-there", "50-60 runnable; 60-70 gc"},
		{"the world is stopped", "50 7 runnable; 60 stw; 80 start; 85 stw; 90 7 running on 13; 95 start; 100 7 runnable; 110 7 not-there",
			"50-60 runnable; 60-80 gc; 80-85 runnable; 85-90 gc; 90-100 cpu; 100-110 runnable"},
		{"lost sight of, and seen again", "50 7 running on 13; 60 7 unknown; 80 7 running on 13; 90 7 not-there", "50-60 cpu; 60-80 unknown; 80-90 cpu"},
		{"lost sight of", "50 7 running on 13; 60 7 unknown", "50-60 cpu"},
		{"still there at the end", "1900 7 running on 13", "1900-2000 cpu"},
		{"words that are not known", "50 7 waiting wait_for_debug_call; 60 7 waiting new_in_Go_9; 70 7 not-there", "50-60 other; 60-70 other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			last := map[uint64]int64{}
			j := joinerOf(t, func(v *Interval) {
				text := fmt.Sprintf("%d-%d %v", v.From, v.To, v.State)
				if v.By != 0 {
					text += fmt.Sprintf(" woken by %d", v.By)
				}
				got = append(got, text)
				if at := last[v.Goid]; at != 0 && at != v.From {
					t.Errorf("goroutine %d: an interval from %d behind one to %d", v.Goid, v.From, at)
				}
				last[v.Goid] = v.To
				if v.State == CPU && !v.On || (v.State == Running || v.State == Blocked) && v.On {
					t.Errorf("%s, and on a CPU is %v", text, v.On)
				}
			})
			was := map[uint64]gotrace.GoState{}
			for line := range strings.SplitSeq(c.steps, "; ") {
				step(t, j, line, was)
			}
			j.finish()
			if want := strings.Split(c.want, "; "); !slices.Equal(got, want) || j.err != nil {
				t.Errorf("got  %s\nwant %s\n%v", strings.Join(got, "; "), c.want, j.err)
			}
			f := j.facts
			f.checkSum()
			if !f.Checks.Sum.OK || f.Checks.Sum.Off != 0 {
				t.Error(f.Checks.Sum.Text)
			}
		})
	}
}

// TestProcs: intervals have Go's processor on which a goroutine ran, or that it had when its system
// call began.
func TestProcs(t *testing.T) {
	var got []string
	j := joinerOf(t, func(v *Interval) { got = append(got, fmt.Sprintf("%d-%d %v on %d", v.From, v.To, v.State, v.Proc)) })
	was := map[uint64]gotrace.GoState{}
	for line := range strings.SplitSeq("50 7 running on 13; 60 7 syscall on 13 at 1 proc 0; 70 7 running on 13 proc 3; 80 7 runnable proc 3; "+
		"90 7 running on 12 proc 2; 250 7 syscall on 12 proc 2; 290 7 runnable by 1; 300 7 not-there", "; ") {
		step(t, j, line, was)
	}
	j.finish()
	want := []string{"50-60 cpu on 0", "60-70 syscall on 0", "70-80 cpu on 3", "80-90 runnable on -1", "90-100 stalled on 2", "100-200 cpu on 2", "200-250 stalled on 2",
		"250-290 blocked on 2", "290-300 runnable on -1"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}

	// The thread of a system call that lost its processor comes back to a CPU, but not to the
	// processor.
	got, was = nil, map[uint64]gotrace.GoState{}
	j = joinerOf(t, func(v *Interval) {
		got = append(got, fmt.Sprintf("%d: %d-%d %v on %d", v.Goid, v.From, v.To, v.State, v.Proc))
	})
	for line := range strings.SplitSeq("150 7 syscall on 12 at 1 proc 0; 250 8 running on 13 proc 0; 350 8 not-there; 450 7 runnable; 460 7 not-there", "; ") {
		step(t, j, line, was)
	}
	j.finish()
	want = []string{"8: 250-350 cpu on 0", "7: 150-200 syscall on 0", "7: 200-300 blocked on 0", "7: 300-400 syscall on -1", "7: 400-450 preempted on -1", "7: 450-460 runnable on -1"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestChecks: the results of the checks for states that are wrong.
func TestChecks(t *testing.T) {
	j := joinerOf(t, nil)
	was := map[uint64]gotrace.GoState{}
	// Two goroutines on one thread at once: one of them is wrong.
	for _, line := range []string{"0 7 running on 13", "0 8 running on 13", "1000 7 unknown", "1000 8 waiting nobody_knows", "2000 8 not-there"} {
		step(t, j, line, was)
	}
	j.finish()
	f := j.facts
	f.Switches = true
	lost, came := j.switches.lost, j.switches.came
	j.switches.lost, j.switches.came = 0, 0
	f.checkSum()
	f.checkCPU(j.switches, &clocks{0, 2000, 2000})
	f.checkUnknown()
	k := f.Checks
	if !k.Sum.OK || k.CPU.OK || k.Unknown.OK {
		t.Errorf("%+v", k)
	}
	if came != 3 {
		t.Errorf("threads came onto CPUs %d times, want 3", came)
	}
	// Thread 13 had 2000 ns, thread 12 400 and 100 more after the lost ones; two goroutines shared
	// 1000.
	if f.over != 1000 || f.used != 2000 || j.switches.on != 2000+300+100 {
		t.Errorf("%d ns of CPUs were with two goroutines, %d with goroutines, %d in all", f.over, f.used, j.switches.on)
	}
	if want := float64(2400+1000-2000) / 2000; k.CPU.Off != want {
		t.Errorf("off by %v, want %v", k.CPU.Off, want)
	}
	// The clocks show more time: what three switches took.
	f.over = 0
	f.Checks.CPU = check{}
	j.switches.came = came
	f.checkCPU(j.switches, &clocks{0, 2000, 2400 + 3*perSwitch})
	if k := f.Checks.CPU; !k.OK || k.Off != 0 || lost != 100 {
		t.Errorf("%+v, with %d switches and %d ns of lost ones", k, j.switches.came, lost)
	}
	f.checkCPU(j.switches, &clocks{0, 2000, 100_000})
	if f.Checks.CPU.OK {
		t.Error(f.Checks.CPU.Text)
	}
	// The clocks show less: what is between them and the records of three switches.
	on := j.switches.on
	j.switches.on = 1e6 + 3*aSwitch
	f.checkCPU(j.switches, &clocks{0, 2e6, 1e6})
	if k := f.Checks.CPU; !k.OK || k.Off != 0 || !strings.Contains(k.Text, "of which 3 switches may be") {
		t.Errorf("%+v", k)
	}
	j.switches.came = 0
	f.checkCPU(j.switches, &clocks{0, 2e6, 1e6})
	if f.Checks.CPU.OK {
		t.Error(f.Checks.CPU.Text)
	}
	j.switches.on = on
	// The clocks show less: what the host took.
	for _, c := range []struct {
		stolen int64
		ok     bool
	}{{200, false}, {400, true}} {
		f.stolen, f.Checks.CPU = c.stolen, check{}
		f.checkCPU(j.switches, &clocks{0, 2000, 2000})
		if f.Checks.CPU.OK != c.ok {
			t.Errorf("the host took %d: %+v", c.stolen, f.Checks.CPU)
		}
	}
	f.stolen, f.Checks.CPU = 0, check{}
	j.switches.lost = lost
	f.checkCPU(j.switches, &clocks{0, 2000, 5000})
	if f.Checks.CPU.Known {
		t.Error(f.Checks.CPU.Text)
	}
	f.Checks.Sum = check{}
	f.Goroutines[7].sum++
	f.checkSum()
	if f.Checks.Sum.Off == 0 {
		t.Error("a nanosecond too much is not seen")
	}
}

// TestWhatNobodyKnows: the time before the Go execution trace, or between its parts, is
// distinguished from states that should be known, and fails no check.
func TestWhatNobodyKnows(t *testing.T) {
	j := joinerOf(t, nil)
	was := map[uint64]gotrace.GoState{}
	for _, line := range []string{"0 7 running on 13", "500 7 unknown", "1000 7 running on 13", "2000 7 not-there"} {
		step(t, j, line, was)
	}
	j.finish()
	f := j.facts
	f.checkUnknown()
	if k := f.Checks.Unknown; !k.Known || !k.OK || k.Off != 0 || f.Totals[Unknown] != 500 || !strings.Contains(k.Text, "for 25% they are unknown") {
		t.Errorf("%+v of %v", k, f.Totals)
	}
	f.Totals[Other] = 1000
	f.checkUnknown()
	if k := f.Checks.Unknown; k.OK {
		t.Errorf("%+v of %v", k, f.Totals)
	}
}

func TestStacksSay(t *testing.T) {
	for _, c := range []struct {
		stack string
		state State
		kind  kind
	}{
		{"", Unknown, program},
		{"internal/sync.(*Mutex).lockSlow internal/sync.(*Mutex).Lock sync.(*Mutex).Lock main.f", Lock, program},
		{"sync.runtime_SemacquireRWMutexR sync.(*RWMutex).RLock main.f", Lock, program},
		{"sync.runtime_SemacquireWaitGroup sync.(*WaitGroup).Wait main.main runtime.main", Join, program},
		{"sync.runtime_notifyListWait sync.(*Cond).Wait main.f", Cond, program},
		{"sync.(*Mutex).Unlock main.f", Lock, program}, // the function that unlocks shows what was waited for
		{"sync.(*WaitGroup).Add sync.(*WaitGroup).Done main.f", Join, program},
		{"runtime.gopark runtime.chanrecv runtime.chanrecv1 main.f", Channel, program},
		{"runtime.chansend1 main.f", Channel, program},
		{"runtime.selectgo main.f", Select, program},
		{"runtime.block main.f", Select, program},
		{"internal/poll.runtime_pollWait internal/poll.(*FD).Read net.(*conn).Read main.f", Network, program},
		{"internal/poll.runtime_Semacquire internal/poll.(*fdMutex).rwlock internal/poll.(*FD).Write main.f", Lock, program},
		{"time.Sleep main.f", Sleep, program},
		{"runtime.semacquire runtime.GC main.f", Other, program},
		{"runtime.gopark runtime.gcBgMarkWorker", Other, worker},
		{"runtime.gopark runtime.bgsweep", Other, worker},
		{"runtime.gopark runtime.forcegchelper", Other, system},
		{"runtime.chanrecv1 github.com/scopeview/scopeview/scope.(*recorder).beats", Channel, system},
		{"runtime.chanrecv1 main.f github.com/scopeview/scopeview/scope.startGo.func1", Channel, program},
	} {
		var frames []*symbols.Frame
		for name := range strings.FieldsSeq(c.stack) {
			frames = append(frames, &symbols.Frame{Func: name})
		}
		if s, k := stackState(frames), kindOf(frames); s != c.state || k != c.kind {
			t.Errorf("%s: %v of %d, want %v of %d", c.stack, s, k, c.state, c.kind)
		}
	}
}
