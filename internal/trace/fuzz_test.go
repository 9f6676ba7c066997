package trace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// exercise asks data for everything. It must not panic or hang, nor take more memory than
// reading may, and what it gives must be what Events promises.
func exercise(t *testing.T, data []byte) {
	t.Helper()
	size := int64(len(data))
	r := bytes.NewReader(data)
	n, opens := 0, false
	tracetest.Frugal(t, "Open and everything that a Trace tells", size, func() {
		tr, err := trace.Open(r, size)
		if opens = err == nil; opens {
			n = events(t, tr, size)
			for _, f := range accessors {
				f(t, tr, size)
			}
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	tracetest.Frugal(t, "Verify", size, func() {
		if _, err := trace.Verify(r, size); (err == nil) != opens {
			t.Errorf("Open has an error: %v; that of Verify is %v", !opens, err)
		}
	})
	if !opens {
		return
	}
	tracetest.FrugalTimes(t, "Dump", size, 32, func() { // it assembles every chunk again
		if err := text.Dump(io.Discard, r, size); err != nil {
			t.Errorf("Dump: %v", err)
		}
	})
	tracetest.FrugalTimes(t, "a Follower, and a Trace beside it", size, 2, func() { follow(t, r, size, n) })
}

// accessors ask for what a Trace tells, by the name of the method; Events, Close and those
// of a Follower have functions of their own.
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
	"Cool": func(t *testing.T, tr *trace.Trace, size int64) { tr.Cool() },
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
	"Processes": func(t *testing.T, tr *trace.Trace, size int64) {
		for i, p := range tr.Processes() {
			if p.Number == 0 || p.To < p.From || p.Error < -1 || i > 0 && tr.Processes()[i-1].Number >= p.Number {
				t.Errorf("%+v", p)
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
	"LossesUntil": func(t *testing.T, tr *trace.Trace, size int64) {
		if until, all := tr.LossesUntil(); until < 0 || !all && tr.Closed() {
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
	"CallObjects": func(t *testing.T, tr *trace.Trace, size int64) {
		tr.CallObjects(func(list []trace.Place) []trace.Object {
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
	"Depth": func(t *testing.T, tr *trace.Trace, size int64) { tr.Depth(1<<32 - 1) },
	"Ring":  func(t *testing.T, tr *trace.Trace, size int64) { tr.Ring() },
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

// processOf asks which process goroutines are of, whose ids their processes made.
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

// No method is forgotten.
func TestG23Accessors(t *testing.T) {
	covered := map[string]bool{
		"Trace.Events": true, "Trace.Close": true, // events, exercise
		"Follower.Poll": true, "Follower.Open": true, "Follower.Problems": true, "Follower.Missed": true, "Follower.Trace": true, "Follower.Events": true, "Follower.CallObjects": true, // follow
		"Follower.Entries": true, "Follower.Found": true, // a test's own
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

// events reads all events and returns how many there were.
func events(t *testing.T, tr *trace.Trace, size int64) (n int) {
	var last int64
	var line []byte
	end := size
	if tr.Ring() > 0 {
		end = int64(tr.Header().ChunkSize) << 24 // by number
	}
	err := tr.Events(trace.Options{Anchors: true}, func(e *trace.Event) bool {
		n++
		if n > 1 && e.Start < last {
			t.Errorf("an event at %d after one at %d", e.Start, last)
		}
		last = e.Start
		switch {
		case e.Dur < 0, e.CPU < -1, e.Depth < 0, e.Loc < format.ChunkHeaderSize || int64(e.Loc) > end-format.RecordSize, len(e.Args) > format.MaxSlots:
			t.Errorf("event %+v", e)
		case e.Kind.Spec() == nil:
			t.Errorf("event of kind %v", e.Kind)
		}
		line = appendEvent(line[:0], tr, e)
		return true
	})
	if err != nil {
		t.Errorf("Events: %v", err)
	}
	if int64(n) > size/format.RecordSize {
		t.Errorf("%d events in %d bytes", n, size)
	}
	return n
}

// follow polls a trace that does not change.
func follow(t *testing.T, r io.ReaderAt, size int64, n int) {
	f, err := trace.NewFollower(r, func() (int64, error) { return size, nil }, trace.FollowOptions{FromStart: true})
	if err != nil {
		t.Errorf("NewFollower: %v", err)
		return
	}
	got := 0
	for range 3 {
		if _, err := f.Poll(func(*trace.Event) bool { got++; return true }); err != nil {
			t.Errorf("Poll: %v", err)
		}
	}
	if err := f.Open(func(*trace.Event) bool { got++; return true }); err != nil {
		t.Errorf("Open: %v", err)
	}
	if got > n {
		t.Errorf("followed %d events, there are %d", got, n)
	}
	f.Problems()
	f.Trace().Chunks() // its Events would need an Open of its own
	if again, err := trace.Open(r, size); err != nil {
		t.Error(err)
	} else if err := f.Events(again, trace.Options{From: 1, To: 1 << 40}, func(*trace.Event) bool { return true }); err != nil {
		t.Errorf("Follower.Events: %v", err)
	}
	if n := f.Missed(); n < 0 {
		t.Errorf("missed %d chunks of a trace that nobody wrote", n)
	}
}

func FuzzTrace(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.bytes(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<20 {
			exercise(t, data)
			agree(t, data)
		}
	})
}

// small are traces with a little of everything in few bytes: one is a ring, and one
// is a ring that is being written.
func small(t *testing.T) (list [][]byte) {
	src := strings.NewReplacer("chunk records owner=1 ", "chunk records owner=1 since=2000 ").Replace(sound)
	live := strings.NewReplacer("closed=1", "closed=0", "stop ticks=9000\n", "").Replace(soundRing)
	for _, src := range []string{src, soundRing, live} {
		data, err := text.Assemble(strings.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data)
	}
	return list
}

// full tells that everything is to be tried, however long it takes.
func full() bool { return os.Getenv("SCOPEVIEW_FAULT") == "full" }

// every is the step in which places are tried: each in full, else what fits.
func every(usual, short int) int {
	switch {
	case full():
		return 1
	case testing.Short(), trace.RaceEnabled:
		return short
	}
	return usual
}

// A trace that ends at any byte opens, or says why not.
func TestG23Truncated(t *testing.T) {
	if !tracetest.InChild(t) {
		return
	}
	n := 0
	for i, data := range small(t) {
		for size := 0; size <= len(data); size += every([]int{1, 3, 7}[i], 127) {
			if !full() && size%4096 > 900 && size%4096 < 4000 {
				continue // only zeros end there
			}
			exercise(t, data[:size])
			if n++; t.Failed() {
				t.Fatalf("cut off after %d bytes", size)
			}
		}
	}
	t.Logf("G23: a trace, a ring and one that is being written, cut off at %d places: no panic, memory and time within bounds", n)
}

// A trace with any bit flipped opens, or says why not; also where who flipped it made the
// checksums right again.
func TestG23Flipped(t *testing.T) {
	if !tracetest.InChild(t) {
		return
	}
	n := 0
	for i, data := range small(t) {
		for bit := 0; bit < 8*len(data); bit += every([]int{3, 7, 17}[i], 401) {
			if at := bit / 8; !full() && at%4096 > 900 && at%4096 < 4000 {
				continue // like the zeros before
			}
			for _, repaired := range []bool{false, true} {
				flipped := data
				data[bit/8] ^= 1 << (bit % 8)
				if repaired {
					flipped = repair(data)
				}
				if repaired && bytes.Equal(flipped, data) {
					// There is no checksum over it.
				} else if n++; bit%8 == bit/8%8 || repaired {
					exercise(t, flipped)
				} else if tr, err := trace.Open(bytes.NewReader(data), int64(len(data))); err == nil {
					events(t, tr, int64(len(data)))
				}
				agree(t, flipped)
				data[bit/8] ^= 1 << (bit % 8)
				if t.Failed() {
					t.Fatalf("bit %d of byte %d flipped, checksums made right: %v", bit%8, bit/8, repaired)
				}
			}
		}
	}
	t.Logf("G23: a trace, a ring and one that is being written, with a bit flipped, %d times: no panic, memory and time within bounds", n)
}

// repair is data with all checksums right.
func repair(data []byte) []byte {
	b := bytes.Clone(data)
	le := binary.LittleEndian
	table := crc32.MakeTable(crc32.Castagnoli)
	le.PutUint32(b[format.HeaderSize:], crc32.Checksum(b[:format.HeaderSize], table))
	for chunk := 4096; chunk < len(b); chunk += 4096 {
		if format.ChunkKind(b[chunk+4]) != format.ChunkBlocks {
			continue
		}
		for at, end := chunk+format.ChunkHeaderSize, chunk+4096; at+format.BlockHeaderSize <= end; {
			h := b[at:end]
			n := int64(le.Uint32(h))
			if le.Uint64(h) == 0 || n > int64(len(h)-format.BlockHeaderSize) {
				break
			}
			p := h[format.BlockHeaderSize : format.BlockHeaderSize+n]
			le.PutUint32(h[8:], crc32.Update(crc32.Checksum(h[:8], table), table, p))
			at += format.BlockHeaderSize + int(n+7)&^7
		}
	}
	return b
}

// TestG24Bombs: what claims to hold more than it does, or is as dear as can be, costs a
// reader no more than reading may. What can't be read at all says where.
func TestG24Bombs(t *testing.T) {
	if !tracetest.InChild(t) {
		return
	}
	size := 1 << 18
	if full() {
		size = 4 << 20
	}
	refused := 0
	bombs := tracetest.Bombs(size)
	for _, b := range bombs {
		exercise(t, b.Data)
		if t.Failed() {
			t.Fatal(b.Name)
		}
		if _, err := trace.Open(bytes.NewReader(b.Data), int64(len(b.Data))); err != nil {
			var corrupt *trace.CorruptError
			if refused++; !errors.As(err, &corrupt) || corrupt.Offset < 0 || corrupt.Offset > int64(len(b.Data)) {
				t.Errorf("%s: %v", b.Name, err)
			}
		}
	}
	t.Logf("G24: %d files of %d KiB: %d are refused with where they are corrupt, the others read, all within 8 × file + 1 MiB and a second of CPU per MiB", len(bombs), size>>10, refused)
}

// FuzzText changes a trace's text instead of its bytes, so that checksums are
// right and what they protect is met too.
func FuzzText(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.trace)
	}
	f.Add(sound)
	f.Add(soundRing)
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<13 {
			return
		}
		data, err := text.Assemble(strings.NewReader(src))
		if err == nil && len(data) < 1<<20 {
			exercise(t, data)
			agree(t, data)
		}
	})
}
