package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

func assemble(t testing.TB, src string) []byte {
	t.Helper()
	return tracetest.Assemble(t, src)
}

const ranges = `header
state closed=1 tick=9000
chunk blocks
name 2 "a"
name 3 "b"
name 4 "c"
name 5 "d"
name 6 "e"
stop ticks=9000
chunk records flags=final sealed
anchor start=1000 thread=5 cpu=7
task "a" g=1 start=2000 stop=3000 cpu=0/unknown
task "b" g=1 start=2500 open
pending "c" g=1 start=2600 stop=6000 cpu=0/unknown
event "d" g=1 start=5000
task "e" g=1 start=7000 stop=8000 cpu=0/unknown
`

func TestRange(t *testing.T) {
	data := assemble(t, ranges)
	tr := tracetest.Open(t, data)
	for _, tc := range []struct {
		o    trace.Options
		want string
	}{
		{trace.Options{}, "a0 b1 d1 c1 e1"},
		{trace.Options{From: 2000}, "a0 b1 d1 c1 e1"}, // a scope that ends there touches it
		{trace.Options{From: 2001}, "b1 d1 c1 e1"},
		{trace.Options{To: 1000}, "a0"},
		{trace.Options{To: 999}, ""},
		{trace.Options{From: 4000, To: 4000}, "b1 d1"},
		{trace.Options{From: 4500, To: 5000}, "b1 c1"},
		{trace.Options{From: 5001}, "b1 e1"},
		{trace.Options{Anchors: true, To: 1000}, "anchor5 a0"},
	} {
		var got []string
		err := tr.Events(tc.o, func(e *trace.Event) bool {
			if e.Kind == format.KindAnchor {
				got = append(got, fmt.Sprint("anchor", e.Thread))
			} else {
				got = append(got, fmt.Sprint(tr.Name(e.Name), e.Depth))
			}
			return true
		})
		if s := strings.Join(got, " "); err != nil || s != tc.want {
			t.Errorf("%+v: %s, %v; want %s", tc.o, s, err, tc.want)
		}
	}
	n := 0
	if err := tr.Events(trace.Options{}, func(*trace.Event) bool { n++; return n < 2 }); err != nil || n != 2 {
		t.Errorf("stopped after two: %d, %v", n, err)
	}
}

// TestConcurrentEvents checks that several goroutines may read one trace.
func TestConcurrentEvents(t *testing.T) {
	data := assemble(t, sound)
	tr := tracetest.Open(t, data)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			n := 0
			err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
				n++
				tr.Name(e.Name)
				return true
			})
			if err != nil || n != 12 {
				t.Errorf("%d events, %v", n, err)
			}
			tr.Beats()
			tr.Problems()
		})
	}
	wg.Wait()
}

// failing returns an error from some offset on.
type failing struct {
	r    io.ReaderAt
	from int64
}

var errDisk = errors.New("the disk fails")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.r.ReadAt(p, off)
}

// TestReadErrors checks that an error of the disk is returned, wherever it comes, and does not
// shorten the trace.
func TestReadErrors(t *testing.T) {
	data := assemble(t, sound)
	size := int64(len(data))
	for from := int64(0); from < size; from += 512 {
		r := failing{bytes.NewReader(data), from}
		tr, err := trace.Open(r, size)
		if err == nil {
			err = tr.Events(trace.Options{}, func(*trace.Event) bool { return true })
		}
		if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "offset") {
			t.Errorf("failing from %d: %v", from, err)
		}
		if _, err := trace.Verify(r, size); !errors.Is(err, errDisk) {
			t.Errorf("Verify, failing from %d: %v", from, err)
		}
		if err := text.Dump(io.Discard, r, size); !errors.Is(err, errDisk) {
			t.Errorf("Dump, failing from %d: %v", from, err)
		}
	}
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		filetest.Write(t, path, data)
		return path
	}
	good := assemble(t, sound)
	bad := bytes.Clone(good)
	bad[20]++
	for _, tc := range []struct {
		path string
		want error
		says string
	}{
		{write("empty.scope", nil), format.ErrEmpty, "empty.scope: the file is empty; its writer"},
		{write("text.scope", []byte("hello, world")), format.ErrNotTrace, "text.scope: not a scopeview trace; traces begin with \"SCOPEVW\""},
		{write("newer.scope", assemble(t, "header major=7 minor=0")), format.ErrNewer, "newer.scope: the trace was made by a newer scopeview (format 7.0"},
		{write("bad.scope", bad), format.ErrCorrupt, "bad.scope: at offset 0: corrupt: file header checksum"},
		{dir, format.ErrNotTrace, "it is not a regular file"},
		{filepath.Join(dir, "none"), os.ErrNotExist, "none"},
	} {
		_, err := trace.OpenFile(tc.path)
		if !errors.Is(err, tc.want) || !strings.Contains(fmt.Sprint(err), tc.says) {
			t.Errorf("%s: %v, want %v: %q", tc.path, err, tc.want, tc.says)
		}
		var c *trace.CorruptError
		if errors.As(err, &c) != (tc.want == format.ErrCorrupt) || c != nil && c.Path != tc.path {
			t.Errorf("%s: %#v", tc.path, c)
		}
	}
	tr, err := trace.OpenFile(write("good.scope", good))
	if err != nil {
		t.Fatal(err)
	}
	if tr.Header().PID != 1 || !tr.State().Closed || tr.Lookup("program") != "demo" || tr.Lookup("x") != "" || tr.Start().UnixNano() != 0 || tr.Wall(5).UnixNano() != 5 {
		t.Errorf("header %+v", tr.Header())
	}
	if b, ok := tr.LastBeat(); !ok || b.Time != 2000 {
		t.Errorf("last beat %+v", b)
	}
	if v, ok := tr.Beats()[0].Value(format.FieldRSS); v != 100 || !ok {
		t.Errorf("rss %d, %v", v, ok)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	if err := tr.Events(trace.Options{}, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("events of a closed file: %v", err)
	}
}

// TestNewerNames checks that a name written after Open is found when a record has it.
func TestNewerNames(t *testing.T) {
	data := assemble(t, strings.Replace(ranges, "closed=1", "closed=0", 1))
	at := bytes.Index(data, format.AppendName(nil, 6, "e")) - format.BlockHeaderSize
	block := bytes.Clone(data[at : at+32])
	clear(data[at:]) // everything behind was not written yet
	data = data[:len(data):len(data)]
	tr := tracetest.Open(t, data)
	if got := tr.Name(6); got != "(name 6)" {
		t.Errorf("not written yet: %q", got)
	}
	copy(data[at:], block)
	if got := tr.Name(6); got != "e" {
		t.Errorf("written since: %q", got)
	}
	if got := tr.Name(5); got != "d" {
		t.Errorf("old name: %q", got)
	}
}
