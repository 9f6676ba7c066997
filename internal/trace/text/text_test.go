package text

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
)

func TestAssembleErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"chunk records", "line 1: the first line is header"},
		{"header\nheader", "line 2: a second header"},
		{"header chunk=100", "line 1: chunk=100 is not supported"},
		{"header chunk=x", "line 1: chunk=x: not a number"},
		{"header id=zz", "line 1: id=zz: not up to 16 bytes"},
		{"header nonsense", `line 1: "nonsense" is not understood here`},
		{"header clock=sun", "line 1: clock=sun: unknown"},
		{"header\nchunk papers", `line 2: "papers" is no kind of chunk`},
		{"header\nchunk records\nstate", "line 3: state follows header"},
		{"header\nchunk records\nwalk g=1", `line 3: "walk" begins no line`},
		{"header\nchunk records\ntask \"f\" g=1", `line 3: no name line defines "f"`},
		{"header\nchunk records\ntask \"f", "line 3: a quoted text does not end"},
		{"header\nchunk records\ntask #70000", "line 3: #70000 is no name's id"},
		{"header\nchunk records\ntask g=1 cpu=5", "line 3: cpu=5: the quality is unknown, exact, likely or most"},
		{"header\nchunk records\ntask g=1 cpu=5/sure", "line 3: cpu=5/sure: the quality is"},
		{"header\nchunk records\ntask g=0x10000000000", "line 3: g=1099511627776: too large"},
		{"header\nchunk records\ntask open=late", "line 3: open=late: only go"},
		{"header\nchunk records\ntask @a\ntask @a", "line 4: a second record has the label @a"},
		{"header\nchunk records\ntask | int", "line 3: int: a slot is type:value"},
		{"header\nchunk records\ntask | odd:1", "line 3: odd:1: unknown type of slot"},
		{"header\nchunk records\ntask | int:x", "line 3: int:x: strconv"},
		{"header\nchunk records\n\nend | loc:@a goid:1", "line 4: no record has the label @a"},
		{"header\nchunk records\n" + strings.Repeat("task\n", 127), "line 129: 32 bytes do not fit into the 0"},
		{"header\nchunk blocks\nname f1", "line 3: a name needs its id"},
		{"header\nchunk blocks\nbeat ticks=1 colour=2", "line 3: colour=2: it is no field:value of a beat"},
		{"header\nchunk blocks\nthread ticks=1 2:3", "line 3: 2:3: it is no id:cpu:wait of a thread"},
		{"header\nchunk blocks\ngap reason=bored", "line 3: reason=bored: unknown"},
		{"header\nchunk blocks\nblock 5 xyz", "line 3: encoding/hex"},
		{"header\nchunk blocks\ngotrace stream=-1 00", "line 3: stream=-1: too large"},
		{"header\nchunk blocks\ngotrace 0", "line 3: encoding/hex"},
		{"header\nchunk blocks\nswitch thread=1 up:5", "line 3: up:5: it is no how:time of a switch"},
		{"header\nchunk blocks\nlock #2", "line 3: a lock needs its kind"},
		{"header\nchunk blocks\nlock mutex #65536", "line 3: #65536 is no name's id"},
		{"header\nat 5000", "line 2: at needs a place in the chunk"},
		{"header\nhole 129", "line 2: hole needs a number of places"},
		{"header\ntruncate 5000", "truncate 5000: the trace has only 4096 bytes"},
		{"header\ntruncate 10\nchunk records", "line 3: truncate is the last line"},
		{"header chunk=16777216\nunborn 4", "line 2: the trace is larger"},
	} {
		_, err := Assemble(strings.NewReader(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %q", tc.text, err, tc.want)
		}
	}
}

// TestDump checks a trace with an element of every kind, as a person would write it, and Dump's
// text of it.
func TestDump(t *testing.T) {
	in := `
# A comment.
header id=0102 rate=2_000_000_000 # another
state closed=1 tick=7
chunk blocks sealed
name 2 "f 1"
stop ticks=9
chunk records flags=ends since=0x400
  task "f 1" @a g=7 start=2000 open tid=3 seq=1 | string:"x y" key:"f 1" float:0.5
  hole 2
  end g=8 start=3000 begin=2000 cpu=5/most | loc:@a goid:7
unborn
`
	want := `header major=1 minor=7 chunk=4096 page=4096 pid=1 clock=tsc path=assembly backing=disk witness=0 id=01020000000000000000000000000000 start=1000 mono=0 wall=0 rate=2000000000 limit=0
state closed=1 tick=7 end=16384 lost=0
chunk blocks owner=0 path=assembly since=1000 gen=1 flags=none sealed=120
name 2 "f 1"
stop ticks=9
chunk records owner=0 path=assembly since=1024 gen=1 flags=ends sealed=0
task "f 1" g=7 start=2000 open tid=3 seq=1 | string:"x y" key:"f 1" float:0.5
hole 2
end g=8 start=3000 begin=2000 cpu=5/most | loc:8256 goid:7
unborn 1
`
	data, err := Assemble(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Dump(&out, bytes.NewReader(data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &out, want)
	}
}

// TestProcessors checks that neither the text nor Verify's findings depend on how many chunks are
// read at a time, and that there is no write after the first that fails.
func TestProcessors(t *testing.T) {
	var in strings.Builder
	in.WriteString("header\nchunk blocks\nname 2 \"f\"\n")
	for i := range 300 {
		fmt.Fprintf(&in, "chunk records owner=%d since=%d\n", i%7, 2000+i)
		for k := range i % 5 {
			fmt.Fprintf(&in, "task \"f\" g=%d start=%d stop=%d cpu=%d/exact\n", i, 2000+i, 2000+i+k, k)
		}
		if i%9 == 0 {
			fmt.Fprintf(&in, "unborn %d\nbytes\nat 70\nraw ff%02x\n", 1+i%4, i&0xff)
		}
	}
	data, err := Assemble(strings.NewReader(in.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var texts [2]bytes.Buffer
	var found [2][]trace.Finding
	for i, processors := range []int{1, 4} {
		runtime.GOMAXPROCS(processors)
		if err := Dump(&texts[i], bytes.NewReader(data), int64(len(data))); err != nil {
			t.Fatal(err)
		}
		if found[i], err = trace.Verify(bytes.NewReader(data), int64(len(data))); err != nil {
			t.Fatal(err)
		}
		full := &fullDisk{room: 3000}
		if err := Dump(full, bytes.NewReader(data), int64(len(data))); err != errFull || full.failed != 1 {
			t.Errorf("on %d processors, of a disk that is full: %v, after %d writes that failed", processors, err, full.failed)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Error("on one processor the text is another one than on four")
	}
	if len(found[0]) == 0 || !slices.Equal(found[0], found[1]) {
		t.Errorf("%d findings on one processor, %d on four", len(found[0]), len(found[1]))
	}
	if again, err := Assemble(&texts[1]); err != nil || !bytes.Equal(again, data) {
		t.Errorf("other bytes: %v", err)
	}
}

var errFull = errors.New("full")

// fullDisk has room for so many bytes.
type fullDisk struct{ room, failed int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.room -= len(b); d.room < 0 {
		d.failed++
		return 0, errFull
	}
	return len(b), nil
}

// seeds are the traces of the reader's goldens.
func seeds(t testing.TB) [][]byte {
	paths, err := filepath.Glob("../testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	var out [][]byte
	for _, p := range paths {
		b := filetest.Read(t, p)
		part := regexp.MustCompile(`(?s)-- trace --\n(.*)-- expect --`).FindSubmatch(b)
		if data, err := Assemble(bytes.NewReader(part[1])); err == nil {
			out = append(out, data)
		}
	}
	return out
}

// FuzzDump checks that the text of any trace assembles to the same bytes.
func FuzzDump(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		if Dump(&out, bytes.NewReader(data), int64(len(data))) != nil {
			return
		}
		again, err := Assemble(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		if !bytes.Equal(data, again) {
			t.Fatalf("other bytes after\n%s", &out)
		}
	})
}

func FuzzAssemble(f *testing.F) {
	f.Add("header\nchunk records\ntask #5 @a g=1 | loc:@a string:\"x\"/5\nraw 00\nat 7\nhole 2\ntruncate 99")
	f.Add("header\nchunk blocks\nname 2 \"x\" crc=bad\nbeat ticks=1 user_ns=2\nthread ticks=1 1:2:3\nblock 9 00")
	f.Add("header\nchunk blocks\ngotrace part=1 ff\nswitch thread=1 base=2 until=9 on out:3 in:4\nlock mutex #2 ticks=5 addr=0x10 contended=3")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 1<<12 {
			Assemble(strings.NewReader(s)) // must not panic
		}
	})
}
