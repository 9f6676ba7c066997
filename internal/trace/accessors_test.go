package trace_test

import (
	"errors"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// accessors call the methods of a Trace, by name; Events, Close and those of a Follower have
// functions of their own.
var accessors = map[string]func(t *testing.T, tr *trace.Trace, size int64){
	"Names": func(t *testing.T, tr *trace.Trace, size int64) { tr.Names() },
	"Name": func(t *testing.T, tr *trace.Trace, size int64) {
		for _, id := range []uint16{0, 1, 2, 77, 65535} {
			tr.Name(id)
		}
	},
	"Lookup": func(t *testing.T, tr *trace.Trace, size int64) { tr.Lookup("program") },
	"Header": func(t *testing.T, tr *trace.Trace, size int64) { tr.Header() },
	"State":  func(t *testing.T, tr *trace.Trace, size int64) { tr.State() },
	"Closed": func(t *testing.T, tr *trace.Trace, size int64) {
		if tr.Closed() != tr.State().Closed {
			t.Error("closed or not")
		}
	},
	"LacksHotPart": func(t *testing.T, tr *trace.Trace, size int64) { tr.LacksHotPart() },
	"Beats": func(t *testing.T, tr *trace.Trace, size int64) {
		for _, b := range tr.Beats() {
			b.Value(format.FieldRSS)
		}
	},
	"EachBeat": func(t *testing.T, tr *trace.Trace, size int64) {
		n := 0
		if err := tr.EachBeat(func(*trace.Beat) bool { n++; return true }); err != nil || n != len(tr.Beats()) {
			t.Errorf("%d beats, one by one, of %d; %v", n, len(tr.Beats()), err)
		}
	},
	"EachBeatBetween": func(t *testing.T, tr *trace.Trace, size int64) {
		n, middle := 0, tr.End()/2
		for _, part := range [][2]int64{{math.MinInt64, middle}, {middle, math.MaxInt64}} {
			if err := tr.EachBeatBetween(part[0], part[1], func(*trace.Beat) bool { n++; return true }); err != nil {
				t.Error(err)
			}
		}
		if n != len(tr.Beats()) {
			t.Errorf("%d beats in both halves, of %d", n, len(tr.Beats()))
		}
	},
	"Calibrations": func(t *testing.T, tr *trace.Trace, size int64) {
		if n := len(tr.Calibrations()); int64(n) > size {
			t.Errorf("%d calibrations in %d bytes", n, size)
		}
	},
	"Processes": func(t *testing.T, tr *trace.Trace, size int64) {
		for i, p := range tr.Processes() {
			if p.Number == 0 || p.To < p.From || p.Error < -1 || i > 0 && tr.Processes()[i-1].Number >= p.Number {
				t.Errorf("%+v", p)
			}
		}
	},
	"Excerpt": func(t *testing.T, tr *trace.Trace, size int64) {
		if from, to, ok := tr.Excerpt(); ok && (from < 0 || to < from) {
			t.Errorf("an excerpt from %d to %d", from, to)
		}
	},
	"Goroutines": func(t *testing.T, tr *trace.Trace, size int64) {
		for _, g := range tr.Goroutines() {
			if g.ID == 0 || g.Created < -1 || g.Since < 0 || g.Proc < -1 || int(g.State) >= len(format.GoroutineStates) {
				t.Errorf("%+v", g)
			}
		}
	},
	"LastTick": func(t *testing.T, tr *trace.Trace, size int64) {
		if tr.LastTick() < tr.Header().StartTicks || tr.Nanos(tr.LastTick()) != tr.End() {
			t.Errorf("the last tick is %d, the end %d", tr.LastTick(), tr.End())
		}
	},
	"Ticks": func(t *testing.T, tr *trace.Trace, size int64) {
		for _, ns := range []int64{0, 1, tr.End() / 2, tr.End()} {
			if at := tr.Ticks(ns); at < format.MaxTicks && tr.Nanos(at) < ns || at > 0 && tr.Nanos(at-1) >= ns {
				t.Errorf("%d ns are tick %d", ns, at)
			}
		}
	},
	"Scheds": func(t *testing.T, tr *trace.Trace, size int64) {
		for _, s := range tr.Scheds() {
			if s.Number == 0 || len(s.GoTraces) == 0 || s.At(0) != s.From || s.At(s.Own.End) != s.To || s.Goid(7)>>s.Shift != uint64(s.Number) {
				t.Errorf("%+v", s)
			}
		}
	},
	"ProcessOf": func(t *testing.T, tr *trace.Trace, size int64) { processOf(t, tr) },
	"OwnGoid":   func(t *testing.T, tr *trace.Trace, size int64) { processOf(t, tr) },
	"Calls": func(t *testing.T, tr *trace.Trace, size int64) {
		for _, c := range tr.Calls() {
			if c.Calls < 0 || c.Recorded < 0 || c.Recorded > c.Calls || c.Unseen < 0 || c.All() < c.Calls || c.Since < 0 {
				t.Errorf("%+v", c)
			}
		}
	},
	"LastBeat": func(t *testing.T, tr *trace.Trace, size int64) { tr.LastBeat() },
	"Gaps":     func(t *testing.T, tr *trace.Trace, size int64) { tr.Gaps() },
	"Breaks":   func(t *testing.T, tr *trace.Trace, size int64) { tr.Breaks() },
	"Lost": func(t *testing.T, tr *trace.Trace, size int64) {
		for l, n := range tr.Lost() {
			if n <= 0 {
				t.Errorf("%d lost: %v", n, l)
			}
		}
	},
	"Miscounted": func(t *testing.T, tr *trace.Trace, size int64) {
		// In a merged trace a process without counts takes precedence over the counters.
		if until, all := tr.LossesUntil(); tr.Miscounted() && (all || until != 0 && len(tr.Processes()) == 0) {
			t.Errorf("the counters can't be right, and losses are known until %d, all: %t", until, all)
		}
	},
	"LossesUntil": func(t *testing.T, tr *trace.Trace, size int64) {
		if until, all := tr.LossesUntil(); until < 0 || !all && tr.Closed() && !tr.Miscounted() {
			t.Errorf("losses are known until %d, all: %t", until, all)
		}
	},
	"EachStack": func(t *testing.T, tr *trace.Trace, size int64) {
		stacks := 0
		tr.EachStack(func(s *trace.Stack) bool {
			if stacks++; s.Calls < 0 || len(s.Frames) > format.MaxStackFrames || len(s.Frames) != tr.Depth(s.ID) {
				t.Errorf("%d calls from a stack of %d frames", s.Calls, len(s.Frames))
			}
			return true
		})
		if int64(stacks) > size/24 {
			t.Errorf("%d stacks in %d bytes", stacks, size)
		}
	},
	"EachCount": func(t *testing.T, tr *trace.Trace, size int64) {
		tr.EachCount(func(*trace.Stack) bool { return false })
	},
	"AppendFrames": func(t *testing.T, tr *trace.Trace, size int64) { tr.AppendFrames(nil, 1<<32-1) },
	"Places": func(t *testing.T, tr *trace.Trace, size int64) {
		if n := int64(len(tr.Places())); n > size/32 {
			t.Errorf("%d places in %d bytes", n, size)
		}
	},
	"NamePlaces": func(t *testing.T, tr *trace.Trace, size int64) {
		all := tr.NamePlaces(0)
		if n := int64(len(all)); n > size/32 || n < int64(len(tr.Places())) {
			t.Errorf("%d places of names in %d bytes", n, size)
		}
		if len(tr.NamePlaces(1)) != max(len(all)-1, 0) || len(tr.NamePlaces(math.MaxInt)) != 0 || len(tr.NamePlaces(-1)) != len(all) {
			t.Error("behind the first there are not the others")
		}
	},
	"FirstPlaces": func(t *testing.T, tr *trace.Trace, size int64) {
		if n, all := len(tr.FirstPlaces()), len(tr.NamePlaces(0)); n > all {
			t.Errorf("%d names of %d places", n, all)
		}
	},
	"IsObject": func(t *testing.T, tr *trace.Trace, size int64) {
		if tr.IsObject(2) {
			t.Error("nobody named objects")
		}
	},
	"NameByObject": func(t *testing.T, tr *trace.Trace, size int64) {
		tr.NameByObject(func(list []trace.Place) []trace.Object {
			of := make([]trace.Object, len(list))
			for i := range of {
				of[i] = trace.Object{Name: "one"}
			}
			return of
		})
		for _, p := range tr.Places() {
			if tr.Name(p.Name) != "one" {
				t.Errorf("place %d is called %q", p.Name, tr.Name(p.Name))
			}
		}
	},
	"Depth":  func(t *testing.T, tr *trace.Trace, size int64) { tr.Depth(1<<32 - 1) },
	"CutOff": func(t *testing.T, tr *trace.Trace, size int64) { tr.CutOff(1<<32 - 1) },
	"Ring":   func(t *testing.T, tr *trace.Trace, size int64) { tr.Ring() },
	"Overwritten": func(t *testing.T, tr *trace.Trace, size int64) {
		if o := tr.Overwritten(); o.Until < 0 || o.Chunks != 0 {
			t.Errorf("%+v overwritten", o)
		}
	},
	"GoTraces": func(t *testing.T, tr *trace.Trace, size int64) {
		read := int64(0)
		for _, g := range tr.GoTraces() {
			n, err := io.Copy(io.Discard, g.Reader())
			if err != nil || n != g.Size {
				t.Errorf("%d bytes of a Go trace of %d: %v", n, g.Size, err)
			}
			read += n
		}
		if read > size {
			t.Errorf("Go traces of %d bytes in %d", read, size)
		}
	},
	"Files": func(t *testing.T, tr *trace.Trace, size int64) {
		buf := make([]byte, format.MaxFilePart)
		for _, f := range tr.Files() {
			r, read := f.Reader(), int64(0)
			n, err := 0, error(nil)
			for err == nil {
				n, err = r.ReadAt(buf, read)
				read += int64(n)
			}
			if read > f.Size || f.Size > format.MaxFile || f.Stored > size || (err == io.EOF) != (read == f.Size) || f.Missing && err == io.EOF || err != io.EOF && !errors.Is(err, format.ErrCorrupt) {
				t.Errorf("%d bytes of a file of %d, which takes %d of %d, a part is missing: %v; %v", read, f.Size, f.Stored, size, f.Missing, err)
			}
		}
	},
	"NextFile":    func(t *testing.T, tr *trace.Trace, size int64) { tr.NextFile() },
	"HasSwitches": func(t *testing.T, tr *trace.Trace, size int64) { tr.HasSwitches() },
	"EachSwitches": func(t *testing.T, tr *trace.Trace, size int64) {
		n := 0
		err := tr.EachSwitches(func(s *format.Switches) bool {
			at := s.Base
			for _, w := range s.List {
				if w.Time < at || w.Time > s.Until || w.How > format.SwitchText {
					t.Errorf("switch %v in %d..%d, after %d", w, s.Base, s.Until, at)
				}
				at = w.Time
			}
			n++
			return true
		})
		if err != nil || (n > 0) != tr.HasSwitches() {
			t.Errorf("%d blocks of switches, and there are some is %v; %v", n, tr.HasSwitches(), err)
		}
	},
	"SwitchBlocks": func(t *testing.T, tr *trace.Trace, size int64) {
		n := 0
		all, read := tr.SwitchBlocks()
		for i := range all {
			s, ok, err := read(nil, all[len(all)-1-i])
			if ok && (s.Until < s.Base || err != nil) {
				t.Errorf("switches from %d to %d; %v", s.Base, s.Until, err)
			}
			n++
		}
		if (n > 0) != tr.HasSwitches() {
			t.Errorf("%d blocks of switches, and there are some is %v", n, tr.HasSwitches())
		}
	},
	"WantsCPU": func(t *testing.T, tr *trace.Trace, size int64) {
		if tr.WantsCPU() {
			t.Error("nobody gave CPU times")
		}
	},
	"KeepProcesses": func(t *testing.T, tr *trace.Trace, size int64) {
		p, err := trace.ParseProcesses("-*")
		if err == nil {
			err = tr.KeepProcesses(p)
		}
		if !errors.Is(err, trace.ErrNoProcess) {
			t.Errorf("none is to be kept: %v", err)
		}
	},
	"Kept": func(t *testing.T, tr *trace.Trace, size int64) {
		if p, calls := tr.Kept(); p != nil || calls {
			t.Errorf("%v is kept, and nobody has asked for that", p)
		}
	},
	"Programs": func(t *testing.T, tr *trace.Trace, size int64) {
		if n := len(tr.Programs()); n > 0 && !tr.HasPrograms() {
			t.Errorf("%d programs, and none", n)
		}
	},
	"Merged": func(t *testing.T, tr *trace.Trace, size int64) {
		if n := tr.Merged(); n != len(tr.Processes()) {
			t.Errorf("merged of %d processes, and these are %d", n, len(tr.Processes()))
		}
	},
	"AddDamage": func(t *testing.T, tr *trace.Trace, size int64) {
		tr.AddDamage("what lies in the trace is not whole")
		tr.AddDamage("what lies in the trace is not whole")
		n := 0
		for _, p := range tr.Problems() {
			if p.Text == "what lies in the trace is not whole" {
				n++
				if p.Count != 1 || !p.Damage() {
					t.Errorf("%+v", p)
				}
			}
		}
		if n != 1 {
			t.Errorf("reported %d times", n)
		}
	},
	"Events while it grows": func(t *testing.T, tr *trace.Trace, size int64) {
		trace.Grows(tr)
		if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
			if e.Start > tr.End() {
				t.Errorf("%+v is behind the end, %d", e, tr.End())
			}
			return true
		}); err != nil {
			t.Error(err)
		}
	},
	"UseEnds": func(t *testing.T, tr *trace.Trace, size int64) {
		tr.UseEnds(func(goid uint64) (int64, bool) { return int64(goid) << 8, goid%2 == 1 })
		err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
			if e.Dur < 0 || e.Left && (!e.Open || e.Dur > 0 && e.Start+e.Dur > tr.End()) {
				t.Errorf("%+v", e)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	},
	"UseCPU": func(t *testing.T, tr *trace.Trace, size int64) {
		tr.UseCPU(func() (trace.CPUAt, error) {
			return func(goid uint64, from, to int64) (int64, format.Quality) {
				if goid == 0 || to <= from {
					t.Errorf("goroutine %d, %d to %d", goid, from, to)
				}
				return to - from, format.Quality(goid & 3)
			}, nil
		})
		err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
			if e.Kind != format.KindProcess && e.Kind != format.KindAnchor && (e.CPU < 0 || e.CPU > e.Dur) {
				t.Errorf("%+v", e)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	},
	"EachLockSums": func(t *testing.T, tr *trace.Trace, size int64) {
		err := tr.EachLockSums(func(l *format.LockSums) bool {
			if l.Short > l.Contended || l.Acquired < -1 || int(l.Kind) >= len(format.LockKindNames) {
				t.Errorf("%+v", l)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	},
	"Counters": func(t *testing.T, tr *trace.Trace, size int64) {
		for _, c := range tr.Counters() {
			if c.Name == "" || c.Lost < 0 {
				t.Errorf("%+v", c)
			}
		}
	},
	"EachSample": func(t *testing.T, tr *trace.Trace, size int64) {
		counters := map[string]bool{}
		for _, c := range tr.Counters() {
			counters[c.Name] = true
		}
		err := tr.EachSample(func(s *trace.Sample) bool {
			if !counters[s.Counter] || s.Weight < 0 {
				t.Errorf("%+v", s)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	},
	"PCs": func(t *testing.T, tr *trace.Trace, size int64) {
		for id := range uint32(format.CodeStacks + 9) {
			if n := len(tr.PCs(id)); n > format.MaxStackFrames || n > 0 && id < format.CodeStacks {
				t.Errorf("stack %d has %d addresses", id, n)
			}
		}
	},
	"CodeAt": func(t *testing.T, tr *trace.Trace, size int64) {
		for id := range uint32(9) {
			for _, pc := range tr.PCs(format.CodeStacks + id) {
				if o := tr.CodeAt(pc); o != nil && (pc < o.From || pc >= o.To) {
					t.Errorf("%#x is said to be of %+v", pc, o)
				}
			}
		}
	},
	"HasPrograms": func(t *testing.T, tr *trace.Trace, size int64) { tr.HasPrograms() },
	"ProgramOf": func(t *testing.T, tr *trace.Trace, size int64) {
		if err := tr.EachSample(func(s *trace.Sample) bool {
			if x := tr.ProgramOf(s); !tr.HasPrograms() && x.PID != 0 || len(x.Path) > format.MaxName {
				t.Errorf("%+v is of %+v", s, x)
			}
			return true
		}); err != nil {
			t.Error(err)
		}
	},
	"Start": func(t *testing.T, tr *trace.Trace, size int64) { _ = tr.Start().String() },
	"Wall":  func(t *testing.T, tr *trace.Trace, size int64) { _ = tr.Wall(tr.End()).String() },
	"Nanos": func(t *testing.T, tr *trace.Trace, size int64) {
		last := int64(math.MinInt64)
		for _, ticks := range []int64{math.MinInt64, -1, 0, 1, 1000, 9000, format.MaxTicks - 1, math.MaxInt64} {
			ns := tr.Nanos(ticks)
			if ns < last && ticks > 0 {
				t.Errorf("tick %d is %d ns, an earlier one %d", ticks, ns, last)
			}
			last = ns
		}
	},
	"End": func(t *testing.T, tr *trace.Trace, size int64) { tr.End() },
	"Chunks": func(t *testing.T, tr *trace.Trace, size int64) {
		if n := int64(len(tr.Chunks())); n > size/4096 {
			t.Errorf("%d chunks in %d bytes", n, size)
		}
	},
	"Size": func(t *testing.T, tr *trace.Trace, size int64) {
		if tr.Size() > size {
			t.Errorf("%d bytes of %d", tr.Size(), size)
		}
	},
	"Problems": func(t *testing.T, tr *trace.Trace, size int64) {
		for _, p := range tr.Problems() {
			if p.Text == "" || p.Count <= 0 || p.Offset < 0 || p.Offset > size {
				t.Errorf("problem %+v in %d bytes", p, size)
			}
			p.Damage()
		}
	},
}

// processOf checks the process of goroutines whose ids their processes assigned.
func processOf(t *testing.T, tr *trace.Trace) {
	for _, want := range tr.Processes() {
		for own := range min(1<<(want.Shift-1), uint64(3)) {
			id := uint64(want.Number)<<want.Shift | own
			if p, ok := tr.ProcessOf(id); !ok || p != want || tr.OwnGoid(id) != own || tr.OwnGoid(id|1<<(want.Shift-1)) != 0 {
				t.Errorf("%d is of %+v, want %+v", id, p, want)
			}
		}
	}
	if p, ok := tr.ProcessOf(0); ok {
		t.Errorf("a goroutine that is unknown is of %+v", p)
	}
}

// TestG23Accessors checks that every method is covered.
func TestG23Accessors(t *testing.T) {
	covered := map[string]bool{
		"Trace.Events": true, "Trace.Close": true, // events, exercise
		"Follower.Poll": true, "Follower.Open": true, "Follower.Problems": true, "Follower.Missed": true, "Follower.Trace": true, "Follower.Events": true, "Follower.NameByObject": true, // follow
		"Follower.Entries": true, "Follower.Found": true, // only for tests
	}
	for name := range accessors {
		covered["Trace."+name] = true
	}
	n := 0
	for _, v := range []any{&trace.Trace{}, &trace.Follower{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumMethod() {
			if n++; !covered[typ.Elem().Name()+"."+typ.Method(i).Name] {
				t.Errorf("%v.%s is not asked of traces that are not sound", typ, typ.Method(i).Name)
			}
		}
	}
	t.Logf("G23: all %d methods of Trace and Follower are asked of every broken trace", n)
}
