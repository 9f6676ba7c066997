package anonymize

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// write anonymizes a trace in memory.
func write(t testing.TB, data []byte, salt string) ([]byte, Result) {
	t.Helper()
	var out bytes.Buffer
	res, err := Write(&out, bytes.NewReader(data), int64(len(data)), salt)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), res
}

// read lists the events of a trace, without names and arguments, and their names.
func read(t testing.TB, data []byte) (events, names []string) {
	t.Helper()
	tr := tracetest.Open(t, data)
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		events = append(events, fmt.Sprint(e.Kind, e.Start, e.Dur, e.CPU, e.Quality, e.Goid, e.Thread, e.Depth, e.Open, e.Value))
		names = append(names, tr.Name(e.Name), tr.Name(e.Track))
	}
	s := tr.State()
	events = append(events, fmt.Sprint(s.Closed, s.Tick, s.Lost, s.Overwritten, tr.End(), len(tr.Beats()), len(tr.Notes), len(tr.Gaps())))
	return events, names
}

// same compares the events of two traces. Equal names have equal hashes.
func same(t testing.TB, before, after []byte) {
	t.Helper()
	events, names := read(t, before)
	events2, names2 := read(t, after)
	if len(events) != len(events2) {
		t.Fatalf("%d events, %d before", len(events2)-1, len(events)-1)
	}
	for i := range events {
		if events[i] != events2[i] {
			t.Errorf("event %d: %s, was %s", i, events2[i], events[i])
		}
	}
	hashes, texts := map[string]string{}, map[string]string{}
	for i, n := range names {
		h := names2[i]
		if old, ok := hashes[n]; ok && old != h {
			t.Errorf("%q became %q and %q", n, old, h)
		}
		if old, ok := texts[h]; ok && old != n {
			t.Errorf("%q and %q became %q", n, old, h)
		}
		if n == h && n != "" && !strings.HasPrefix(n, "(") {
			t.Errorf("%q is there still", n)
		}
		hashes[n], texts[h] = h, n
	}
}

func findings(t testing.TB, data []byte) []trace.Finding {
	t.Helper()
	found, err := trace.Verify(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestGoldens checks that the copies of the reader's sound goldens read the same. The others have
// copies.
func TestGoldens(t *testing.T) {
	paths, err := filepath.Glob("../trace/testdata/*.txtar")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%q, %v", paths, err)
	}
	sound := 0
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			b := filetest.Read(t, path)
			_, lines, _ := strings.Cut(string(b), "-- trace --\n")
			lines, _, _ = strings.Cut(lines, "-- expect --\n")
			data, err := text.Assemble(strings.NewReader(lines))
			if err != nil {
				t.Skip("it is no trace: ", err)
			}
			var out bytes.Buffer
			if _, err := Write(&out, bytes.NewReader(data), int64(len(data)), ""); err != nil {
				t.Skip("it is no trace: ", err)
			}
			if len(findings(t, data)) > 0 {
				return
			}
			sound++
			same(t, data, out.Bytes())
			for _, f := range findings(t, out.Bytes()) {
				t.Errorf("verify: at %d: %s: %s", f.Offset, f.Rule, f.Text)
			}
		})
	}
	if sound < 10 {
		t.Errorf("only %d goldens are sound", sound)
	}
}

func TestBulk(t *testing.T) {
	for _, args := range []bool{false, true} {
		data := tracetest.Bulk(16, args)
		after, _ := write(t, data, "")
		same(t, data, after)
		if was, is := len(findings(t, data)), len(findings(t, after)); is > was { // not exactly as the recorder writes it
			t.Errorf("%d findings, %d before", is, was)
		}
	}
}

// linked is a trace whose scopes have links, ended in place and apart.
const linked = `header
chunk blocks sealed
name 2 "request"
chunk records owner=0 flags=ends,final sealed
anchor start=1000 thread=12 cpu=5
task "request" @a g=7 start=2000 open tid=12 apart | int:5 addr:0x4bf92f3577b34da6 addr:0xa3ce929d0e0e4736 addr:0x10 addr:0
task "request" @b g=7 start=2010 open tid=12 apart | addr:0x4bf92f3577b34da6 addr:0xa3ce929d0e0e4736 addr:0x11 addr:0x10 string:"secret"
task "request" g=7 start=2020 stop=2030 cpu=0/unknown | int:5
end "request" g=7 start=3000 begin=2010 cpu=0/unknown | loc:@b goid:7 begin:task/"request"/7/ext int:200
end "request" g=7 start=3001 begin=2000 cpu=0/unknown | loc:@a goid:7 addr:0x4bf92f3577b34da6 addr:0xa3ce929d0e0e4736 addr:0x10 addr:0
`

// TestLinks checks that ids are replaced, equal ones by equal ones, also in another copy with the
// salt.
func TestLinks(t *testing.T) {
	data := tracetest.Assemble(t, linked)
	links := func(data []byte) (list []format.Link) {
		err := tracetest.Open(t, data).Events(trace.Options{}, func(e *trace.Event) bool {
			if l, ok := e.Link(); ok {
				list = append(list, l)
			}
			if len(e.Args) > format.LinkSlots {
				t.Errorf("an argument is left: %v", e.Args)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	after, _ := write(t, data, "x")
	same(t, data, after)
	for _, f := range findings(t, after) {
		if f.Rule != "chunk-kept" && f.Rule != "state-end" {
			t.Errorf("verify: at %d: %s: %s", f.Offset, f.Rule, f.Text)
		}
	}
	got := links(after)
	if len(got) != 2 {
		t.Fatalf("%d links", len(got))
	}
	a, b := got[0], got[1]
	if a.Trace != b.Trace || b.Parent != a.Span || a.Parent != [8]byte{} || a.Span == b.Span {
		t.Errorf("the links are %v and %v", a, b)
	}
	if a.Trace[0] == 0x4b && a.Trace[1] == 0xf9 || a.Span == [8]byte{7: 0x10} {
		t.Errorf("the ids are there still: %v", a)
	}
	again, _ := write(t, data, "x")
	other, _ := write(t, data, "y")
	if links(again)[0] != a || links(other)[0] == a {
		t.Error("one salt does not make one id, or two do")
	}
}

// TestSalt checks that copies with one salt can be compared, and copies with none can't.
func TestSalt(t *testing.T) {
	data := tracetest.Bulk(1, true)
	a, _ := write(t, data, "x")
	b, _ := write(t, data, "x")
	c, _ := write(t, data, "y")
	d, _ := write(t, data, "")
	e, _ := write(t, data, "")
	if !bytes.Equal(a, b) {
		t.Error("one salt, and two copies")
	}
	for i, other := range [][]byte{c, d, e} {
		if bytes.Equal(a, other) {
			t.Errorf("copy %d is that of another salt", i)
		}
	}
	if bytes.Equal(d, e) {
		t.Error("without a salt two copies are the same")
	}
}

// FuzzWrite checks that every trace gives a copy or an error.
func FuzzWrite(f *testing.F) {
	seed := planted(f)
	f.Add(seed[4096:])
	f.Fuzz(func(t *testing.T, chunks []byte) {
		data := append(bytes.Clone(seed[:4096]), chunks...) // or nothing gets past the checksum
		var out bytes.Buffer
		if _, err := Write(&out, bytes.NewReader(data), int64(len(data)), "x"); err != nil {
			return
		}
		if _, err := trace.Open(bytes.NewReader(out.Bytes()), int64(out.Len())); err != nil {
			t.Errorf("the copy can't be read: %v", err)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	data := tracetest.Bulk(256, true)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		var n counter
		if _, err := Write(&n, bytes.NewReader(data), int64(len(data)), "x"); err != nil {
			b.Fatal(err)
		}
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// TestMutated checks that a trace with any mutation has a readable copy, and that reading does not
// change the trace.
func TestMutated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	seed := planted(t)
	for range 3000 {
		data := bytes.Clone(seed)
		for range 1 + rnd.IntN(20) {
			i := 4096 + rnd.IntN(len(data)-4096)
			data[i] = []byte{0, 1, 0x70, 0x7f, 0xff, byte(rnd.Uint32())}[rnd.IntN(6)]
		}
		if rnd.IntN(10) == 0 {
			data = data[:4096+rnd.IntN(len(data)-4096)]
		}
		was := bytes.Clone(data)
		after, _ := write(t, data, "x")
		if !bytes.Equal(was, data) {
			t.Fatal("the trace itself was changed")
		}
		tracetest.Open(t, after)
	}
}

// TestProcessors checks that the copy does not depend on how many chunks are copied at a time. Ends
// apart are in other chunks than their begins, which move.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, shape := range []bulk.Shape{bulk.Long, bulk.Args, bulk.Ring} {
		data, err := bulk.Trace{Shape: shape, Scopes: 20_000, Seed: 1}.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		var copies [2][]byte
		var results [2]Result
		for i, processors := range []int{1, 4} {
			runtime.GOMAXPROCS(processors)
			copies[i], results[i] = write(t, data, "salt")
		}
		if !bytes.Equal(copies[0], copies[1]) || results[0] != results[1] || results[0].Chunks == 0 {
			t.Errorf("%s: one processor copies %+v, four %+v", shape, results[0], results[1])
		}
	}
}
