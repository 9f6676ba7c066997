package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	pprofile "github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// zstdOf and gzipOf compress data as the programs of these names do.
func zstdOf(data []byte) []byte {
	var b bytes.Buffer
	w, _ := zstd.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func gzipOf(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// compressions are the forms of compression, and none.
var compressions = []struct {
	end string
	of  func([]byte) []byte
}{
	{"", func(data []byte) []byte { return data }},
	{".zst", zstdOf},
	{".gz", gzipOf},
}

// callWith runs the tool with in as standard input.
func callWith(ctx context.Context, in io.Reader, args ...string) result {
	var out, err bytes.Buffer
	code := execute(ctx, &streams{in: in, out: &out, err: &err}, split(args))
	return result{out.String(), err.String(), code}
}

// bulkTrace returns a trace of some chunks.
func bulkTrace(t *testing.T) []byte {
	t.Helper()
	data, err := bulk.Trace{Shape: bulk.Irregular, Scopes: 12_000, Seed: 1}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ways are the ways to pass a trace to a command: each returns the TRACE, and the standard input.
func ways(t *testing.T, mux *http.ServeMux, url string) map[string]func(name string, data []byte) (arg string, in io.Reader) {
	return map[string]func(name string, data []byte) (string, io.Reader){
		"file": func(name string, data []byte) (string, io.Reader) {
			path := filepath.Join(t.TempDir(), name)
			filetest.Write(t, path, data)
			return path, nil
		},
		"stdin": func(_ string, data []byte) (string, io.Reader) {
			return "-", iotest.HalfReader(bytes.NewReader(data))
		},
		"http": func(name string, data []byte) (string, io.Reader) {
			mux.HandleFunc("GET /ways/"+name, func(w http.ResponseWriter, r *http.Request) { w.Write(data) })
			return url + "/ways/" + name, nil
		},
		"pipe": func(_ string, data []byte) (string, io.Reader) { return pipeOf(t, data), nil },
	}
}

// TestStreams: commands read the same from a trace in every way, compressed or not.
func TestStreams(t *testing.T) {
	_, mux, url := served(t)
	data := bulkTrace(t)
	plain := filepath.Join(t.TempDir(), "x.scope")
	filetest.Write(t, plain, data)
	want := scopeview("export", "csv", "--raw", plain)
	if want.code != exitOK || strings.Count(want.out, "\n") != 12_001 {
		t.Fatalf("%d lines, exit %d, %s", strings.Count(want.out, "\n"), want.code, want.err)
	}
	for way, give := range ways(t, mux, url) {
		for _, c := range compressions {
			arg, in := give("x.scope"+c.end, c.of(data))
			if arg == "" {
				continue // there are no pipes
			}
			if r := callWith(t.Context(), in, "export", "csv", "--raw", arg); r.out != want.out || r.err != "" || r.code != exitOK {
				t.Errorf("%s%s: %d bytes, want %d; exit %d, %s", way, c.end, len(r.out), len(want.out), r.code, r.err)
			}
			left(t)
		}
	}
	// Two layers, frames that zstd skips, several frames, and compression by the server itself.
	half := len(data) / 2
	mux.HandleFunc("GET /encoded.scope", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(gzipOf(data))
	})
	for name, in := range map[string][]byte{
		"twice":   gzipOf(zstdOf(data)),
		"skipped": append([]byte{0x51, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7}, zstdOf(data)...),
		"frames":  append(zstdOf(data[:half]), zstdOf(data[half:])...),
		"members": append(gzipOf(data[:half]), gzipOf(data[half:])...),
	} {
		if r := callWith(t.Context(), bytes.NewReader(in), "export", "csv", "--raw", "-"); r.out != want.out || r.err != "" {
			t.Errorf("%s: %d bytes, want %d; %s", name, len(r.out), len(want.out), r.err)
		}
	}
	if r := scopeview("export", "csv", "--raw", url+"/encoded.scope"); r.out != want.out || r.err != "" {
		t.Errorf("encoded: %d bytes, want %d; %s", len(r.out), len(want.out), r.err)
	}
	packed := filepath.Join(t.TempDir(), "x.scopez")
	if r := scopeview("pack", plain, "-o", packed); r.code != exitOK {
		t.Fatal(r)
	}
	for way, give := range ways(t, mux, url) {
		arg, in := give("x.scopez", filetest.Read(t, packed))
		if arg == "" {
			continue
		}
		if r := callWith(t.Context(), in, "export", "csv", "--raw", arg); r.out != want.out || r.err != "" {
			t.Errorf("packed, %s: %d bytes, want %d; %s", way, len(r.out), len(want.out), r.err)
		}
		left(t)
	}
	if r := callWith(t.Context(), bytes.NewReader(zstdOf(data)), "compare", plain, "-"); r.code != exitOK || r.err != "" || !strings.Contains(r.out, "B  standard input (") {
		t.Errorf("compare: %v", r)
	}
	// A command that makes another file of it.
	to := filepath.Join(t.TempDir(), "copy.scope")
	if r := callWith(t.Context(), bytes.NewReader(zstdOf(data)), "snapshot", "-", "-o", to); r.code != exitOK {
		t.Errorf("snapshot: %v", r)
	} else if r := scopeview("export", "csv", "--raw", to); r.out != want.out {
		t.Errorf("snapshot: %d bytes, want %d", len(r.out), len(want.out))
	}
	if r := callWith(t.Context(), bytes.NewReader(zstdOf(data)), "archive", "-"); r.code != exitUsage || !strings.Contains(r.err, "make a copy with -o FILE") {
		t.Errorf("archive in place: %v", r)
	}
	left(t)
}

// TestStreamsOfOthers: Go execution traces and profiles can be streams too.
func TestStreamsOfOthers(t *testing.T) {
	_, mux, url := served(t)
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip("another test records: ", err)
	}
	trace.WithRegion(t.Context(), "looked at", func() { time.Sleep(time.Millisecond) })
	trace.Stop()
	var profile bytes.Buffer
	sample := &pprofile.Profile{SampleType: []*pprofile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, Sample: []*pprofile.Sample{{Value: []int64{5}}}}
	if err := sample.WriteUncompressed(&profile); err != nil {
		t.Fatal(err)
	}
	// Go's own profiles begin with another field, and are compressed.
	var goroutines bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&goroutines, 0); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"go.trace": b.Bytes(), "cpu.pprof": profile.Bytes(), "goroutine.pb.gz": goroutines.Bytes()} {
		path := filepath.Join(t.TempDir(), name)
		filetest.Write(t, path, data)
		want := scopeview("profile", "--by", "metric", path)
		if want.code != exitOK {
			t.Fatalf("%s: %v", name, want)
		}
		for way, give := range ways(t, mux, url) {
			for _, c := range compressions {
				arg, in := give(name+c.end, c.of(data))
				if arg == "" {
					continue // there are no pipes
				}
				// The first line contains the file's name.
				r := callWith(t.Context(), in, "profile", "--by", "metric", arg)
				_, got, _ := strings.Cut(r.out, "\n")
				if _, want, _ := strings.Cut(want.out, "\n"); r.code != exitOK || r.err != "" || got != want || got == "" {
					t.Errorf("%s%s, %s: %v, want %s", name, c.end, way, r, want)
				}
				left(t)
			}
		}
	}
	mux.HandleFunc("GET /debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "seconds=5" {
			t.Errorf("the query is %q", r.URL.RawQuery)
		}
		w.Write(b.Bytes())
	})
	if r := scopeview("profile", "--by", "metric", url+"/debug/pprof/trace?seconds=5"); r.code != exitOK || r.err != "" {
		t.Errorf("%v", r)
	}
	// It is of another time than the recording, which join finds after downloading it.
	if r := scopeview("join", "../../internal/trace/testdata", url+"/debug/pprof/trace?seconds=5"); r.code != exitFailed || !strings.Contains(r.err, "no *.scope file in this directory") {
		t.Errorf("join: %v", r)
	}
	for query, want := range map[string]time.Duration{"": 0, "?seconds=5": 5 * time.Second, "?seconds=1.5&debug=1": 1500 * time.Millisecond, "?seconds=-1": 0, "?seconds=NaN": 0, "?seconds=x": 0, "?seconds=1e99": 0} {
		if a, err := parseAddress(url + query); err != nil || a.seconds() != want {
			t.Errorf("%s: %v, %v", query, a.seconds(), err)
		}
	}
}

// TestBrokenStreams: unreadable streams are reported, the complete part of cut streams is read, and
// no file is left.
func TestBrokenStreams(t *testing.T) {
	served(t)
	data := bulkTrace(t)
	changed := func(b []byte) []byte {
		b = bytes.Clone(b)
		for i := len(b) / 2; i < len(b)/2+64; i++ {
			b[i] ^= 0x55
		}
		return b
	}
	failing := errors.New("the cable was pulled")
	for name, test := range map[string]struct {
		in   io.Reader
		want string
		rows bool // some rows are shown nevertheless
	}{
		"empty":           {strings.NewReader(""), "standard input: not a scopeview trace", false},
		"text":            {strings.NewReader("name,start\n"), "standard input: not a scopeview trace", false},
		"compressed text": {bytes.NewReader(zstdOf([]byte("name,start\n"))), "standard input: not a scopeview trace", false},
		"wrong zstd":      {bytes.NewReader(changed(zstdOf(data))), "standard input: the zstd data are broken (", false},
		"wrong gzip":      {bytes.NewReader(changed(gzipOf(data))), "standard input: the gzip data are broken (", false},
		"no gzip":         {bytes.NewReader([]byte{0x1f, 0x8b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0}), "standard input: the gzip data are broken (", false},
		"garbage behind":  {bytes.NewReader(append(zstdOf(data), "and so on"...)), "standard input: the zstd data are broken (", false},
		"layers":          {bytes.NewReader(gzipOf(gzipOf(gzipOf(gzipOf(data))))), "more than 3 layers of compression", false},
		"failing":         {io.MultiReader(bytes.NewReader(data[:100_000]), iotest.ErrReader(failing)), "reading standard input: the cable was pulled", false},
		"failing zstd":    {io.MultiReader(bytes.NewReader(zstdOf(data)[:20_000]), iotest.ErrReader(failing)), "reading standard input: the cable was pulled", false},
		"cut zstd":        {bytes.NewReader(zstdOf(data)[:len(zstdOf(data))*3/4]), "the compressed data end early; the complete part is read", true},
		"cut gzip":        {bytes.NewReader(gzipOf(data)[:len(gzipOf(data))*3/4]), "the compressed data end early; the complete part is read", true},
		"cut":             {bytes.NewReader(data[:len(data)*3/4]), "the file is cut off", true},
		"cut at once":     {bytes.NewReader(zstdOf(data)[:9]), "standard input: ", false},
	} {
		r := callWith(t.Context(), test.in, "export", "csv", "-")
		if r.code != exitFailed || !strings.Contains(r.err, test.want) {
			t.Errorf("%s: exit %d, %s", name, r.code, r.err)
		}
		if lines := strings.Count(r.out, "\n"); test.rows != (lines > 4000 && lines < 12_000) {
			t.Errorf("%s: %d lines", name, lines)
		}
		left(t)
	}
	r := callWith(t.Context(), bytes.NewReader(data), "compare", "-", "-")
	if r.code != exitFailed && r.code != exitUsage || !strings.Contains(r.err, "read only once") {
		t.Errorf("twice: %v", r)
	}
	var errs bytes.Buffer
	if code := execute(t.Context(), &streams{in: strings.NewReader(""), inTerm: true, out: io.Discard, err: &errs}, []string{"top", "-"}); code != exitUsage || !strings.Contains(errs.String(), "is a terminal") {
		t.Errorf("from a terminal: exit %d, %s", code, errs.String())
	}
	left(t)
}

// endless is a trace's header, followed by zeros without end.
type endless struct{ head *bytes.Reader }

func (e endless) Read(b []byte) (int, error) {
	if e.head.Len() > 0 {
		return e.head.Read(b)
	}
	clear(b)
	return len(b), nil
}

// TestInterruptedStreams: an interrupted stream ends within a second, whether it stalls or sends
// too much, and leaves no file.
func TestInterruptedStreams(t *testing.T) {
	_, mux, url := served(t)
	data := bulkTrace(t)
	packed := zstdOf(data)
	mux.HandleFunc("GET /slow.scope.zst", func(w http.ResponseWriter, r *http.Request) {
		w.Write(packed[:len(packed)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	silent, other := io.Pipe()
	defer other.Close()
	for name, test := range map[string]struct {
		arg string
		in  io.Reader
	}{
		"slow server":           {url + "/slow.scope.zst", nil},
		"silence":               {"-", silent},
		"silence in the middle": {"-", io.MultiReader(bytes.NewReader(packed[:len(packed)/2]), silent)},
		"endless":               {"-", endless{bytes.NewReader(data)}},
		"pipe nobody writes to": {unwritten(t), nil},
	} {
		if test.arg == "" {
			continue // there are no pipes
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var at time.Time
		time.AfterFunc(50*time.Millisecond, func() { at = time.Now(); cancel(errors.New("a signal came")) })
		r := callWith(ctx, test.in, "top", test.arg)
		if r.code != exitFailed || r.err != "scopeview: interrupted\n" || time.Since(at) > time.Second {
			t.Errorf("%s: exit %d after %v, %s", name, r.code, time.Since(at), r.err)
		}
		left(t)
	}
}

// TestEndlessStream: a stream that inflates without end is given up before the file system is full.
func TestEndlessStream(t *testing.T) {
	served(t)
	smallFileSystem(t)
	data := bulkTrace(t)
	bomb := gzipOf(append(bytes.Clone(data), make([]byte, 96<<20)...))
	for name, in := range map[string]io.Reader{"endless": endless{bytes.NewReader(data)}, "bomb": bytes.NewReader(bomb)} {
		r := callWith(t.Context(), in, "top", "-")
		if r.code != exitFailed || !strings.Contains(r.err, syscall.ENOSPC.Error()) || !strings.Contains(r.err, "set TMPDIR to a directory with more space") {
			t.Errorf("%s: %v", name, r)
		}
		left(t)
	}
	if r := callWith(t.Context(), bytes.NewReader(zstdOf(data)), "top", "-"); r.code != exitOK {
		t.Errorf("what has room: %v", r)
	}
}

func TestReadable(t *testing.T) {
	for head, want := range map[string]bool{"": false, "x": false, format.Magic: true, "go 1.26 trace\x00": true, "\x0a\x04": true, "SCOPE": false} {
		if readable([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
	for path, want := range map[string]bool{
		"": false, "/": false, "/debug/scope": false, "/debug/scope/": false, "/v1.2/scope": false, "/x.scope": true, "/x.scope.zst": true, "/a/go.trace": true,
		"/debug/pprof/trace": true, "/debug/pprof/profile": true,
	} {
		a, err := parseAddress(fmt.Sprint("http://host", path))
		if err != nil || a.isFile() != want || a.seconds() != 0 {
			t.Errorf("%s: %v, %v", path, !want, err)
		}
	}
}
