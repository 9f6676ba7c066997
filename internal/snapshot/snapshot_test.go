package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// closed is a trace that was closed, with scopes that end in place and apart.
const closed = `
header clock=monotonic path=go witness=1 start=1000
state closed=1 tick=9000
chunk blocks sealed
name 2 "load"
name 3 "store"
info "program" "/bin/x"
beat ticks=2000 recorded=2
chunk records sealed flags=ends,final
task "load" @a g=7 start=2000 open=go apart
task "store" g=7 start=2100 stop=2200 cpu=0/unknown | string:"x"
end g=9 start=3000 begin=2000 cpu=0/unknown | loc:@a goid:7
chunk blocks sealed
note ticks=4000 "filter: x"
stop ticks=9000
`

// writing is a trace that is being written: its last record is incomplete, and so is a block behind
// its last one.
const writing = `
header clock=monotonic path=go witness=1 start=1000
state tick=5000
chunk blocks
name 2 "load"
beat ticks=2000 recorded=2
chunk records sealed flags=final
event "load" g=7 start=1500
chunk records
task "load" g=7 start=2000 open=go
event "load" g=7 start=2500
hole
unborn 3
`

// snap makes a snapshot of a file with these bytes.
func snap(t *testing.T, data []byte, o Options) (string, Result) {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "src.scope")
	filetest.Write(t, src, data)
	f, err := os.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(dir, "dst.scope")
	res, err := Create(path, f, o)
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() != res.Bytes || st.Mode() != 0o600 || res.Path != path {
		t.Errorf("%+v and %v, %v", res, st, err)
	}
	return path, res
}

// sound verifies a trace and opens it.
func sound(t *testing.T, path string) *trace.Trace {
	t.Helper()
	data := filetest.Read(t, path)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := trace.Verify(f, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range found {
		t.Errorf("verify: at %d: %s: %s", x.Offset, x.Rule, x.Text)
	}
	return tracetest.Open(t, data)
}

// events lists a trace's events as text.
func events(t *testing.T, tr *trace.Trace) (list []string) {
	t.Helper()
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		how := "ended"
		if e.Open {
			how = "open"
		}
		list = append(list, strings.Join([]string{e.Kind.String(), tr.Name(e.Name), how}, " "))
	}
	return list
}

func TestCreate(t *testing.T) {
	for _, test := range []struct {
		name, text string
		options    Options
		events     []string
		moment     int64
	}{
		{"closed", closed, Options{}, []string{"task load ended", "task store ended"}, 9000},
		{"writing", writing, Options{}, []string{"event load ended", "task load open", "event load ended"}, 5000},
		{"later", writing, Options{Now: 6000, Facts: []Fact{{"why", "a test"}}}, []string{"event load ended", "task load open", "event load ended"}, 6000},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, res := snap(t, tracetest.Assemble(t, test.text), test.options)
			tr := sound(t, path)
			if got := events(t, tr); !slices.Equal(got, test.events) {
				t.Errorf("events %q, want %q", got, test.events)
			}
			var b [format.StateOffset + format.StateSize]byte
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.ReadAt(b[:], 0); err != nil {
				t.Fatal(err)
			}
			_, s, err := format.DecodeHeader(b[:])
			if err != nil || !s.Closed || s.Tick != test.moment || s.End != res.Bytes {
				t.Errorf("state %+v, %v", s, err)
			}
			facts := 0
			for _, i := range tr.Info {
				if i.Key == "snapshot" && strings.HasSuffix(i.Value, " of src.scope") || i.Key == "why" && i.Value == "a test" {
					facts++
				}
			}
			if facts != 1+len(test.options.Facts) {
				t.Errorf("facts %q", tr.Info)
			}
			if p := tr.Problems(); len(p) > 0 {
				t.Errorf("problems %v", p)
			}
		})
	}
}

func TestPathExists(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "there.scope")
	target := filepath.Join(dir, "target")
	link := filepath.Join(dir, "link.scope")
	src := filepath.Join(dir, "src.scope")
	tracetest.Write(t, src, closed)
	filetest.Write(t, path, []byte("precious"))
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	f := filetest.Open(t, src)
	for _, p := range []string{path, link, src} {
		if _, err := Create(p, f, Options{}); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if b, err := os.ReadFile(path); string(b) != "precious" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("the link was followed")
	}
}

func TestNoTrace(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "hello"} {
		src := filepath.Join(dir, "src.scope")
		filetest.Write(t, src, []byte(text))
		f, err := os.Open(src)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		path := filepath.Join(dir, "dst.scope")
		if _, err := Create(path, f, Options{}); err == nil || !strings.Contains(err.Error(), src) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%q: a file was left", text)
		}
	}
}
