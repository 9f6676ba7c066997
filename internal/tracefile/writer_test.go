package tracefile_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
	"github.com/scopeview/scopeview/internal/tracefile"
)

var header = format.Header{
	PageSize: 4096, PID: 1, Clock: format.ClockMonotonic, Path: format.PathPure, Backing: format.BackingDisk,
	StartTicks: 1000, StartMono: 1, StartWall: 1, TickRate: 1e9,
}

func task(name uint16, start, stop int64) format.Record {
	return format.Record{Start: start, Stop: stop, Head: format.Head(7, format.KindTask, false, name)}
}

// dump returns a trace as text without the parts that the format's own tests cover. It breaks no
// rule.
func dump(t *testing.T, b []byte) string {
	t.Helper()
	r := bytes.NewReader(b)
	found, err := trace.Verify(r, r.Size())
	if err != nil || len(found) > 0 {
		t.Fatalf("verify: %v %v", found, err)
	}
	var out strings.Builder
	if err := text.Dump(&out, r, r.Size()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestWriter writes every kind of record: in order and out of order, on one thread, another and
// none, open and ended apart, before the streams end and after.
func TestWriter(t *testing.T) {
	var m tracetest.Memory
	w := tracefile.New(&m, header)
	f := w.Name("f")
	if again := w.Name("f"); again != f || w.Name("") != format.NameEmpty || w.Name(format.OtherNames) != format.NameOther {
		t.Errorf("a name has the numbers %d and %d", f, again)
	}
	w.Record(3, 11, task(f, 2000, 2500), nil)
	w.Record(3, 12, task(f, 2100, tracefile.Open), nil)
	w.Record(3, 12, task(f, 2050, tracefile.Open), nil) // out of order
	w.Record(3, 0, task(f, 2200, 2300), nil)
	loc := w.Record(3, 12, task(f, 2400, tracefile.Open|format.ApartBit), nil)
	ext, err := format.AppendExt(nil, []format.Slot{{Type: format.SlotLoc, Value: uint64(loc)}, {Type: format.SlotGoid, Value: 7}})
	if err != nil {
		t.Fatal(err)
	}
	w.Record(3, 11, format.Record{Start: 3000, Stop: 2400, Head: format.Head(7, format.KindEnd, true, f)}, ext)
	w.EndRecords()
	w.Record(3, 11, task(f, 1500, 1600), nil)
	w.Since = 1700
	w.Block(format.BlockGoTrace, format.AppendGoTrace(nil, 1, 0, make([]byte, format.ChunkSize-format.ChunkHeaderSize-format.BlockHeaderSize-format.GoTraceHeadSize)))
	w.Block(format.BlockNote, format.AppendNote(nil, 4000, "n"))
	size := w.Close(5000, &[format.CounterReasons + 1]int64{format.LossWindow: 2, format.LossStop: 3})
	if w.Err != nil || size != int64(len(m)) {
		t.Fatalf("%d bytes of %d: %v", size, len(m), w.Err)
	}
	const want = `state closed=1 tick=5000 end=458752 lost=5
chunk blocks owner=0 path=pure since=1000 gen=1 flags=final sealed=128
name 2 "f"
note ticks=4000 "n"
chunk records owner=3 path=assembly since=2000 gen=1 flags=ends,final sealed=320
anchor g=0 start=2000 thread=11 cpu=-1
task "f" g=7 start=2000 stop=2500 cpu=0/unknown
anchor g=0 start=2100 thread=12 cpu=-1
task "f" g=7 start=2100 open tid=12
task "f" g=7 start=2400 open tid=12 apart
anchor g=0 start=2400 thread=11 cpu=-1
end "f" g=7 start=3000 begin=2400 cpu=0/unknown | loc:131264 goid:7
chunk records owner=3 path=go since=2050 gen=1 flags=final sealed=128
task "f" g=7 start=2050 open=go
task "f" g=7 start=2200 stop=2300 cpu=0/unknown
chunk records owner=3 path=assembly since=1500 gen=1 flags=final sealed=128
anchor g=0 start=1500 thread=11 cpu=-1
task "f" g=7 start=1500 stop=1600 cpu=0/unknown
chunk blocks owner=0 path=pure since=1700 gen=1 flags=final sealed=65536
gotrace
chunk blocks owner=0 path=pure since=1700 gen=1 flags=final sealed=88
stop ticks=5000
`
	var got []string
	for line := range strings.Lines(dump(t, m)) {
		switch first, _, _ := strings.Cut(line, " "); first {
		case "header", "at", "raw":
		case "gotrace":
			got = append(got, "gotrace\n")
		default:
			got = append(got, line)
		}
	}
	if text := strings.Join(got, ""); text != want {
		t.Errorf("got:\n%s\nwant:\n%s", text, want)
	}
}

// TestWriterFull checks that a record without room in a chunk goes to the next one, and can be read
// there.
func TestWriterFull(t *testing.T) {
	var m tracetest.Memory
	w := tracefile.New(&m, header)
	w.Begin()
	if h, s, err := format.DecodeHeader(m); err != nil || s.Closed || h.StartTicks != 1000 {
		t.Errorf("begun: %+v, %+v, %v", h, s, err)
	}
	const n = 10_000
	for i := range int64(n) {
		w.Record(uint32(i%2), 11, task(w.Name("f"), 2000+i, 2000+i), nil)
		w.Block(format.BlockNote, format.AppendNote(nil, 2000+i, strings.Repeat("n", 90)))
	}
	size := w.Close(5e9, nil)
	tr, err := trace.Open(bytes.NewReader(m), size)
	if err != nil || w.Err != nil {
		t.Fatal(err, w.Err)
	}
	events := 0
	if err := tr.Events(trace.Options{}, func(*trace.Event) bool { events++; return true }); err != nil {
		t.Fatal(err)
	}
	if dump(t, m); events != n || len(tr.Notes) != n {
		t.Errorf("%d events, %d notes", events, len(tr.Notes))
	}
}

// TestWriterNames checks that names beyond the format's limit share one number.
func TestWriterNames(t *testing.T) {
	var m tracetest.Memory
	w := tracefile.New(&m, header)
	name := make([]byte, 3)
	last, others := uint16(0), 0
	for i := range format.MaxNames + 10 {
		name[0], name[1], name[2] = byte(i), byte(i>>8), byte(i>>16)
		if last = w.Name(string(name)); last == format.NameOther {
			others++
		}
	}
	if last != format.NameOther || others != 10+format.FirstName || w.Name("\x00\x00\x00") != format.FirstName {
		t.Errorf("%d names are others, the last one is %d", others, last)
	}
	if long := strings.Repeat("x", format.MaxName); w.Name(long+"y") != w.Name(long) {
		t.Error("a long name has two numbers")
	}
}

// broken is a file that can't be written.
type broken struct{ writes int }

var errBroken = errors.New("broken")

func (b *broken) WriteAt([]byte, int64) (int, error) { b.writes++; return 0, errBroken }

// TestWriterError checks that there is no write after the first that fails.
func TestWriterError(t *testing.T) {
	var b broken
	w := tracefile.New(&b, header)
	w.Begin()
	for i := range int64(5000) {
		w.Record(0, 1, task(0, 2000+i, 2000+i), nil)
	}
	w.Close(5000, nil)
	if w.Err != errBroken || b.writes != 1 {
		t.Errorf("after %d writes: %v", b.writes, w.Err)
	}
}
