package trace_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// exercise asks data for everything. It must not panic or hang, and what it
// gives must be what Events promises.
func exercise(t *testing.T, data []byte) {
	size := int64(len(data))
	r := bytes.NewReader(data)
	tr, err := trace.Open(r, size)
	if err != nil {
		if _, err := trace.Verify(r, size); err == nil {
			t.Error("Verify has no error where Open has one")
		}
		return
	}
	n := events(t, tr, size)
	for _, e := range []error{tr.Close()} {
		if e != nil {
			t.Error(e)
		}
	}
	tr.Names()
	tr.Info()
	tr.Lookup("program")
	for _, b := range tr.Beats() {
		b.Value(format.FieldRSS)
	}
	tr.Gaps()
	tr.Notes()
	tr.Breaks()
	tr.Lost()
	stacks := 0
	tr.EachStack(func(s *trace.Stack) bool {
		if stacks++; s.Calls < 0 || len(s.Frames) > format.MaxStackFrames {
			t.Errorf("%d calls from a stack of %d frames", s.Calls, len(s.Frames))
		}
		return true
	})
	if int64(stacks) > size/24 {
		t.Errorf("%d stacks in %d bytes", stacks, size)
	}
	if o := tr.Overwritten(); o.Until < 0 || o.Chunks != 0 {
		t.Errorf("%+v overwritten", o)
	}
	tr.Wall(tr.End())
	tr.Chunks()
	for _, p := range tr.Problems() {
		if p.Text == "" || p.Count <= 0 || p.Offset < 0 || p.Offset > size {
			t.Errorf("problem %+v in %d bytes", p, size)
		}
	}
	if _, err := trace.Verify(r, size); err != nil {
		t.Errorf("Verify: %v", err)
	}
	if err := text.Dump(io.Discard, r, size); err != nil {
		t.Errorf("Dump: %v", err)
	}
	follow(t, r, size, n)
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
		case e.Dur < 0, e.CPU < -1, e.Depth < 0, e.Loc < format.ChunkHeaderSize || e.Loc > end-format.RecordSize, len(e.Args) > format.MaxSlots:
			t.Errorf("event %+v", e)
		case e.Kind.Spec() == nil:
			t.Errorf("event of kind %v", e.Kind)
		}
		line = text.AppendEvent(line[:0], tr, e)
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

// A trace that ends at any byte opens, or says why not.
func TestTruncatedAnywhere(t *testing.T) {
	for i, data := range small(t) {
		truncate(t, data, []int{1, 7, 11}[i])
	}
}

func truncate(t *testing.T, data []byte, step int) {
	if testing.Short() || trace.RaceEnabled {
		step = 61
	}
	for n := 0; n <= len(data); n += step {
		if n%4096 > 900 && n%4096 < 4000 {
			continue // only zeros end there
		}
		exercise(t, data[:n])
		if t.Failed() {
			t.Fatalf("cut off after %d bytes", n)
		}
	}
}

// A trace with any bit flipped opens, or says why not.
func TestFlippedAnywhere(t *testing.T) {
	for i, data := range small(t) {
		flip(t, data, []int{1, 7, 11}[i])
	}
}

func flip(t *testing.T, data []byte, step int) {
	if testing.Short() || trace.RaceEnabled {
		step = 101
	}
	for bit := 0; bit < 8*len(data); bit += step {
		if i := bit / 8; i%4096 > 900 && i%4096 < 4000 {
			continue // like the zeros before
		}
		data[bit/8] ^= 1 << (bit % 8)
		if bit%8 == bit/8%8 {
			exercise(t, data)
		} else if tr, err := trace.Open(bytes.NewReader(data), int64(len(data))); err == nil {
			events(t, tr, int64(len(data)))
		}
		if t.Failed() {
			t.Fatalf("bit %d of byte %d flipped", bit%8, bit/8)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
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
		}
	})
}
