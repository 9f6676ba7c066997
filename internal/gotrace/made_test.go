package gotrace_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// Events of a Go execution trace, as Go's internal/trace/tracev2 numbers them.
const (
	evBatch, evStacks, evStack, evStrings, evString = 1, 2, 3, 4, 5
	evSamples, evSample, evFrequency                = 6, 7, 8
	evProcStatus, evProcStart, evProcSteal          = 13, 10, 12
	evGoCreate, evGoStart, evGoDestroy              = 14, 16, 17
	evGoStop, evGoBlock, evGoUnblock                = 19, 20, 21
	evSyscallBegin, evSyscallEnd, evGoStatus        = 22, 23, 25
	evSyscallEndBlocked                             = 24
	evSTWBegin, evSTWEnd, evGCActive, evGCEnd       = 26, 27, 28, 30
	evAssistBegin, evAssistEnd                      = 35, 36
	evStatusStack, evSync, evClock, evEnd           = 48, 50, 51, 52
)

// Statuses of processors and goroutines.
const (
	idle                              = 2 // of a P
	runnable, running, inCall, asleep = 1, 2, 3, 4
)

// made builds a Go execution trace by hand. Its clock counts nanoseconds.
type made struct {
	b       []byte
	gen     uint64
	at      int64 // time of the last event
	events  []byte
	from    int64
	thread  uint64
	ahead   int64 // of the stream's clock, relative to the monotonic clock
	samples []byte
}

func newMade() *made { return &made{b: []byte("go 1.26 trace\x00\x00\x00")} }

func (m *made) batch(thread uint64, at int64, data []byte) {
	m.b = append(m.b, evBatch)
	for _, v := range []uint64{m.gen, thread, uint64(at), uint64(len(data))} {
		m.b = binary.AppendUvarint(m.b, v)
	}
	m.b = append(m.b, data...)
}

// begin begins a generation. Its events are of one thread, which has P 0.
func (m *made) begin(at int64) *made {
	m.gen++
	m.events, m.from, m.at, m.thread, m.samples = nil, at, at, 100, []byte{evSamples}
	return m.event(at, evProcStatus, 0, 1)
}

// other continues with another thread's events.
func (m *made) other(at int64, thread uint64) *made {
	m.batch(m.thread, m.from, m.events)
	m.events, m.from, m.at, m.thread = nil, at, at, thread
	return m
}

func (m *made) event(at int64, typ byte, args ...uint64) *made {
	m.events = append(m.events, typ)
	m.events = binary.AppendUvarint(m.events, uint64(at-m.at))
	for _, a := range args {
		m.events = binary.AppendUvarint(m.events, a)
	}
	m.at = at
	return m
}

func (m *made) sample(at int64, g, stack uint64) *made {
	m.samples = append(m.samples, evSample)
	for _, v := range []uint64{uint64(at), m.thread, 0, g, stack} {
		m.samples = binary.AppendUvarint(m.samples, v)
	}
	return m
}

// The texts and stacks of every generation, by id.
var (
	texts  = []string{"", "chan receive", "sync", "main.leaf", "main.root", "main.go", "preempted", "runtime.gopark", "runtime.selectgo", "read mem stats"}
	stacks = [][]uint64{nil, {3, 4}, {4}, {7, 8, 4}}
)

// end ends the generation.
func (m *made) end() *made {
	m.batch(m.thread, m.from, m.events)
	if len(m.samples) > 1 {
		m.batch(m.thread, m.from, m.samples)
	}
	b := []byte{evStrings}
	for id, s := range texts[1:] {
		b = binary.AppendUvarint(append(b, evString), uint64(id+1))
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	m.batch(0, m.from, b)
	b = []byte{evStacks}
	for id, s := range stacks[1:] {
		b = binary.AppendUvarint(append(b, evStack), uint64(id+1))
		b = binary.AppendUvarint(b, uint64(len(s)))
		for i, f := range s {
			for _, v := range []uint64{f<<8 | uint64(id+1), f, 5, uint64(10*(i+1)) + f} {
				b = binary.AppendUvarint(b, v)
			}
		}
	}
	m.batch(0, m.from, b)
	b = binary.AppendUvarint([]byte{evSync, evFrequency}, 1e9)
	b = append(b, evClock, 0)
	for _, v := range []uint64{uint64(m.from - m.ahead), uint64(m.from) / 1e9, uint64(m.from) % 1e9} {
		b = binary.AppendUvarint(b, v)
	}
	m.batch(0, m.from, b)
	m.b = append(m.b, evEnd)
	return m
}

// start is the start of the traces in these tests, by the monotonic clock.
const start = 10_000_000

// in returns the text of a trace of 1 ms with streams and the lines of records.
func in(records string, streams ...[]byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "header chunk=65536 path=go clock=monotonic start=%d mono=%d wall=%d\nstate closed=1 tick=%d\n", start, start, start, start+1_000_000)
	fmt.Fprintf(&b, "chunk blocks sealed\ninfo \"os\" \"linux\"\nname 5 \"t\"\n")
	for i, s := range streams {
		fmt.Fprintf(&b, "gotrace stream=%d %x\n", i+1, s)
	}
	fmt.Fprintf(&b, "stop ticks=%d\n%s", start+1_000_000, records)
	return b.String()
}

func lines(t *testing.T, tr *trace.Trace) ([]string, *gotrace.Info) {
	t.Helper()
	var all []string
	var info *gotrace.Info
	leaf := func(stack uint32) string {
		if s := info.Stack(stack); s != nil {
			return fmt.Sprintf(" %s:%d/%d", s[0].Func, s[0].Line, len(s))
		}
		return ""
	}
	got, err := gotrace.Read(tr, gotrace.Handler{
		Info: func(i *gotrace.Info) { info = i },
		Transition: func(x *gotrace.Transition) {
			s := fmt.Sprintf("%d g%d %v > %v%s", x.Time, x.Goid, x.From, x.To, leaf(x.Stack))
			if x.Reason != "" {
				s += " (" + x.Reason + ")"
			}
			if x.Thread != 0 {
				s += fmt.Sprintf(" on %d/%d", x.Thread, x.Proc)
			}
			if x.By != 0 {
				s += fmt.Sprintf(" by g%d%s", x.By, leaf(x.ByStack))
			}
			all = append(all, s)
		},
		Sample: func(x *gotrace.Sample) {
			all = append(all, fmt.Sprintf("%d sample g%d on %d%s", x.Time, x.Goid, x.Thread, leaf(x.Stack)))
		},
		Range: func(x *gotrace.Range) {
			all = append(all, fmt.Sprintf("%d-%d g%d %s", x.From, x.To, x.Goid, x.Name))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got != info {
		t.Error("Handler.Info was given another one")
	}
	return all, info
}

// shared has goroutine 7 wait for 8, from at on, for 500 ns.
func shared(m *made, at int64) *made {
	return m.begin(at).
		event(at+10, evGoStatus, 7, 100, running).
		event(at+100, evGoBlock, 1, 1).
		event(at+110, evGoStatus, 8, 0, runnable).
		event(at+120, evGoStart, 8, 1).
		event(at+300, evGoUnblock, 7, 1, 2).
		event(at+310, evGoStop, 6, 2).
		event(at+400, evGoStart, 7, 2).
		event(at+450, evGoStatus, 9, 0, asleep).
		event(at+500, evGoDestroy)
}

var sharedLines = []string{
	"1000 g7 unknown > running on 100/0",
	"1100 g7 running > waiting main.leaf:13/2 (chan receive) on 100/0",
	"1000 g8 unknown > runnable",
	"1120 g8 runnable > running on 100/0",
	"1300 g7 waiting > runnable by g8 main.root:14/1",
	"1310 g8 running > runnable main.root:14/1 (preempted) on 100/0",
	"1400 g7 runnable > running on 100/0",
	"1000 g9 unknown > waiting",
	"1500 g7 running > not there on 100/0",
}

// shifted returns a stream whose clock is ahead of the monotonic one.
func shifted(by int64) []byte {
	m := newMade()
	m.ahead = by
	return shared(m, start+1000+by).end().b
}

// tasks returns the lines of n scopes of goroutine 8, from at ns of the trace on.
func tasks(n int, at int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "chunk records sealed\n")
	for i := range n {
		fmt.Fprintf(&b, "task \"t\" g=8 start=%d stop=%d\n", start+at+int64(i), start+at+int64(i)+2)
	}
	return b.String()
}

func TestMade(t *testing.T) {
	const at = start + 1000
	one := shared(newMade(), at).end().b
	// goesOn adds states of 8 and 9 in the next generation.
	goesOn := func(m *made, at int64) *made {
		return m.begin(at).
			event(at+10, evGoStatus, 8, 0, runnable).
			event(at+20, evGoStart, 8, 1).
			event(at+30, evGoStatus, 9, 0, asleep).
			event(at+40, evSyscallBegin, 1, 1).
			event(at+50, evSyscallEnd)
	}
	two := goesOn(shared(newMade(), at).end(), at+1000).end().b
	gone := []string{"1500 g8 runnable > unknown", "1500 g9 waiting > unknown"}
	second := []string{"2020 g8 runnable > running on 100/0", "2040 g8 running > syscall main.leaf:13/2 on 100/0", "2050 g8 syscall > running on 100/0"}
	late := func(from string, at int) []string {
		return []string{
			fmt.Sprintf("%d g8 %s > runnable", at, from), fmt.Sprintf("%d g8 runnable > running on 100/0", at+20),
			fmt.Sprintf("%d g9 %s > waiting", at, from),
			fmt.Sprintf("%d g8 running > syscall main.leaf:13/2 on 100/0", at+40), fmt.Sprintf("%d g8 syscall > running on 100/0", at+50),
			fmt.Sprintf("%d g8 running > unknown", at+50), fmt.Sprintf("%d g9 waiting > unknown", at+50),
		}
	}
	join := func(all ...[]string) (list []string) {
		for _, l := range all {
			list = append(list, l...)
		}
		return list
	}
	for _, c := range []struct {
		name      string
		text      string
		want      []string
		stretches string
		problem   string // all problems; "" for none
		missing   bool
	}{
		{
			name: "one stream", text: in("", one),
			want: join(sharedLines, gone), stretches: "[{1000 1500}]",
		},
		{
			name: "two generations", text: in("", two),
			want: join(sharedLines, second, []string{"2050 g8 running > unknown", "2050 g9 waiting > unknown"}), stretches: "[{1000 2050}]",
		},
		{
			name: "time between two streams", text: in("", one, goesOn(newMade(), at+1000).end().b),
			want: join(sharedLines, gone, late("unknown", 2000)), stretches: "[{1000 1500} {2000 2050}]",
		},
		{
			// Like snapshots of the flight recorder.
			name: "streams that overlap", text: in("", one, two),
			want:      join(sharedLines, second, []string{"2050 g8 running > unknown", "2050 g9 waiting > unknown"}),
			stretches: "[{1000 2050}]",
		},
		{
			name: "a stream twice", text: in("", two, one, two),
			want: join(sharedLines, second, []string{"2050 g8 running > unknown", "2050 g9 waiting > unknown"}), stretches: "[{1000 2050}]",
		},
		{
			name: "before the trace began", text: in("", goesOn(shared(newMade(), at-2000).end(), at-1020).end().b),
			want:      []string{"0 g8 unknown > runnable", "0 g9 unknown > waiting", "0 g8 runnable > running on 100/0", "20 g8 running > syscall main.leaf:13/2 on 100/0", "30 g8 syscall > running on 100/0", "30 g8 running > unknown", "30 g9 waiting > unknown"},
			stretches: "[{0 30}]",
		},
		{
			name: "after the trace ended", text: in("", shared(newMade(), start+1_000_000-200).end().b),
			want:      []string{"999800 g7 unknown > running on 100/0", "999900 g7 running > waiting main.leaf:13/2 (chan receive) on 100/0", "999800 g8 unknown > runnable", "999920 g8 runnable > running on 100/0", "999920 g7 waiting > unknown", "999920 g8 running > unknown"},
			stretches: "[{999800 999920}]",
		},
		{
			name: "killed in the second generation", text: in("", two[:len(two)-20]),
			want: join(sharedLines, gone), stretches: "[{1000 1500}]", missing: true,
			problem: "Go execution trace 1: its end is missing: the program was killed, or is still writing it; it is good up to 0s",
		},
		{
			name: "killed between generations", text: in("", two[:len(one)+3]),
			want: join(sharedLines, gone), stretches: "[{1000 1500}]", missing: true,
			problem: "Go execution trace 1: its end is missing: the program was killed, or is still writing it; it is good up to 0s",
		},
		{
			name: "killed in the first generation", text: in("", one[:len(one)-1]), stretches: "[]", missing: true,
			problem: "Go execution trace 1: its end is missing: the program was killed, or is still writing it; nothing of it can be read",
		},
		{
			name: "nothing but a header", text: in("", one[:16]), stretches: "[]",
		},
		{
			name: "the middle is missing", stretches: "[{1000 1500}]", want: join(sharedLines, gone), missing: true,
			text:    strings.Replace(in("", one), "stop ticks", fmt.Sprintf("gotrace stream=1 part=2 %x\nstop ticks", two[len(one)+9:]), 1),
			problem: "Go execution trace 1: a part of it is missing: it was overwritten, or there was no room for it; it is good up to 0s",
		},
		{
			name: "the beginning is missing", stretches: "[]", missing: true,
			text:    strings.Replace(in("", one), "stream=1 ", "stream=1 part=1 ", 1),
			problem: "Go execution trace 1: a part of it is missing: it was overwritten, or there was no room for it; nothing of it can be read",
		},
		{
			// Its times are 3 s ahead of the monotonic clock.
			name: "a clock of its own", text: in("", shifted(3e9)), want: join(sharedLines, gone), stretches: "[{1000 1500}]",
		},
		{
			name: "scopes that fit", text: in(tasks(20, 1120), one), want: join(sharedLines, gone), stretches: "[{1000 1500}]",
		},
		{
			name: "garbage", text: in("", []byte("no trace at all, but text")), stretches: "[]",
			problem: "Go execution trace 1: it is not a Go execution trace; nothing of it can be read",
		},
		{
			name: "garbage before a good one", text: in("", []byte("no trace at all, but text"), one), stretches: "[{1000 1500}]", want: join(sharedLines, gone),
			problem: "Go execution trace 1: it is not a Go execution trace; nothing of it can be read",
		},
		{
			name: "an older Go", text: in("", []byte(strings.Replace(string(one), "1.26", "1.22", 1))), stretches: "[]",
			problem: "Go execution trace 1: it is of Go 1.22; traces of Go before 1.25 lack clock snapshots; nothing of it can be read",
		},
		{
			name: "a newer Go", text: in("", []byte(strings.Replace(string(one), "1.26", "1.28", 1))), stretches: "[]",
			problem: "Go execution trace 1: it is of Go 1.28, which this scopeview does not know; a newer one may; nothing of it can be read",
		},
		{
			name: "damaged", text: in("", []byte(strings.Replace(string(two), "sync", "symc", 1)), newMade().begin(at+5000).event(at+5010, evGoStart, 3, 1).end().b),
			want: join(sharedLines, second, []string{"2050 g8 running > unknown", "2050 g9 waiting > unknown"}), stretches: "[{1000 2050} {6000 6000}]",
			problem: "Go execution trace 2: broken trace: failed to advance: frontier:; it is good up to 0s",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, info := lines(t, tracetest.OpenText(t, c.text))
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if s := fmt.Sprint(info.Stretches); s != c.stretches {
				t.Errorf("stretches %s, want %s", s, c.stretches)
			}
			if s := strings.Join(info.Problems, "\n"); s != c.problem || info.Missing != c.missing {
				t.Errorf("missing %v, problems: %q, want %v and %q", info.Missing, s, c.missing, c.problem)
			}
		})
	}
}

// TestIdentity compares scopes with streams that are long enough to be compared.
func TestIdentity(t *testing.T) {
	const at = start + 100_000
	// Goroutine 7 runs, and 8 from 300 to 600 µs.
	m := newMade().begin(at).
		event(at+10, evGoStatus, 7, 100, running).
		event(at+200_000, evGoStop, 6, 1).
		event(at+200_000, evGoStatus, 8, 0, runnable).
		event(at+200_000, evGoStart, 8, 1).
		event(at+500_000, evGoStop, 6, 1).
		event(at+500_000, evGoStart, 7, 1).
		event(at+800_000, evGoStop, 6, 1)
	whole := m.end().b
	for _, c := range []struct {
		name    string
		records string
		checked int64
		right   int64
		problem string
	}{
		{name: "no scopes"},
		{name: "all right", records: tasks(20, 400_000), checked: 40, right: 40},
		{name: "few, and one is wrong", records: tasks(3, 700_000), checked: 6,
			problem: "Go execution trace 1: it is of another process, or the clocks do not align: of 6 times at which a scope began or ended its goroutine was running at 0; it is left out"},
		{name: "of another process", records: tasks(20, 700_000), checked: 40,
			problem: "Go execution trace 1: it is of another process, or the clocks do not align: of 40 times at which a scope began or ended its goroutine was running at 0; it is left out"},
		{name: "one in a hundred wrong", records: tasks(99, 400_000) + "task \"t\" g=8 start=10700000 stop=10999999\n", checked: 199, right: 198},
		{name: "three in a hundred wrong", records: tasks(97, 400_000) + tasks(3, 700_000), checked: 200, right: 194,
			problem: "Go execution trace 1: it is of another process, or the clocks do not align: of 200 times at which a scope began or ended its goroutine was running at 194; it is left out"},
		{name: "on the right thread", records: onThread(100), checked: 2, right: 2},
		{name: "on another thread", records: onThread(101), checked: 2, right: 1,
			problem: "Go execution trace 1: it is of another process, or the clocks do not align: of 2 times at which a scope began or ended its goroutine was running at 1; it is left out"},
		{name: "beyond the stream", records: tasks(20, 30_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, info := lines(t, tracetest.OpenText(t, in(c.records, whole)))
			if info.Checked != c.checked || info.Right != c.right || strings.Join(info.Problems, "\n") != c.problem {
				t.Errorf("%d of %d right, %q; want %d of %d, %q", info.Right, info.Checked, info.Problems, c.right, c.checked, c.problem)
			}
			if (len(got) == 0) != (c.problem != "") {
				t.Errorf("%d lines were read", len(got))
			}
		})
	}
}

// onThread returns a scope of goroutine 8 on a thread.
func onThread(thread int) string {
	return fmt.Sprintf("chunk records path=assembly sealed\nanchor start=%d thread=%d cpu=1\ntask \"t\" g=8 start=%d stop=%d\n", start+400_000, thread, start+400_001, start+450_000)
}

// TestMadeMore covers what the other tests lack: samples, ranges, and stacks of goroutines
// that were parked before.
func TestMadeMore(t *testing.T) {
	const at = start + 1000
	m := newMade().begin(at).
		event(at+10, evGoStatus, 7, 100, running).
		event(at+15, evGCActive, 1).
		event(at+20, evStatusStack, 9, 0, asleep, 3).
		event(at+30, evAssistBegin, 1).
		event(at+60, evSTWBegin, 9, 1).
		event(at+70, evSTWEnd).
		event(at+80, evAssistEnd).
		event(at+90, evGCEnd, 2).
		event(at+95, evAssistBegin, 1).
		event(at+100, evGoCreate, 10, 1, 2).
		sample(at+42, 7, 1).
		sample(at+43, 0, 0)
	got, _ := lines(t, tracetest.OpenText(t, in("", m.end().b)))
	want := []string{
		"1000 g7 unknown > running on 100/0",
		"1000 g9 unknown > waiting runtime.selectgo:28/2 (select)",
		"1042 sample g7 on 100 main.leaf:13/2",
		"1043 sample g0 on 100",
		"1060-1070 g0 stop-the-world (read mem stats)",
		"1030-1080 g7 GC mark assist",
		"1000-1090 g0 GC concurrent mark phase",
		"1100 g10 not there > runnable main.leaf:13/2 by g7 main.root:14/1",
		"1095-1100 g7 GC mark assist",
		"1100 g7 running > unknown", "1100 g9 waiting > unknown", "1100 g10 runnable > unknown",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLate has one thread take the processor of another one that is in a system call, and
// be taken off the CPU before it writes that. What the other does meanwhile must have its
// own time, though Go's decoder delivers it later.
func TestLate(t *testing.T) {
	const at = start + 1000
	m := newMade().begin(at).
		event(at+10, evGoStatus, 7, 100, running).
		event(at+1000, evSyscallBegin, 1, 1).
		event(at+2000, evSyscallEndBlocked).
		event(at+2100, evProcStart, 0, 3).
		event(at+2200, evGoStart, 7, 1).
		event(at+5000, evGoBlock, 1, 1).
		other(at, 200).
		event(at, evProcStatus, 1, 1).
		event(at+20, evGoStatus, 8, 200, running).
		event(at+9000, evProcSteal, 0, 2, 100).
		event(at+9100, evGoStop, 6, 1)
	got, info := lines(t, tracetest.OpenText(t, in("", m.end().b)))
	want := []string{
		"1000 g7 unknown > running on 100/0",
		"1000 g8 unknown > running on 200/1",
		"2000 g7 running > syscall main.leaf:13/2 on 100/0",
		"3000 g7 syscall > runnable on 100/-1",
		"3200 g7 runnable > running on 100/0",
		"6000 g7 running > waiting main.leaf:13/2 (chan receive) on 100/0",
		"10100 g8 running > runnable main.leaf:13/2 (preempted) on 200/1",
		"10100 g7 waiting > unknown",
		"10100 g8 runnable > unknown",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || info.Rough != 0 {
		t.Errorf("%d rough, got:\n%s\nwant:\n%s", info.Rough, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
