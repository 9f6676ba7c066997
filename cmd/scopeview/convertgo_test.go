package main

import (
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// goTraces are Go execution traces of an old Go, and of a new one.
const goTraces = "../../internal/goscopes/testdata/"

// TestGoTraces: every command accepts a Go execution trace like a trace, and names it in messages
// as it was given.
func TestGoTraces(t *testing.T) {
	for _, version := range []string{"go1.22", "go1.26"} {
		t.Run(version, func(t *testing.T) {
			b := filetest.Read(t, goTraces+version+".trace")
			t.Chdir(t.TempDir())
			temp := filepath.Join(t.TempDir(), "temp")
			t.Setenv("TMPDIR", temp)
			for _, err := range []error{os.Mkdir("dir", 0o700), os.WriteFile("dir/my.trace", b, 0o600), os.Mkdir(temp, 0o700)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for command, want := range map[string]string{
				"info":                               "dir/my.trace, ",
				"info --json":                        `"path": "dir/my.trace"`,
				"top":                                "store  ",
				"top --by track":                     "main.worker  ",
				"states":                             "parse  ",
				"states --by goroutine":              "main.main",
				"waits":                              "main.worker main.go",
				"doctor":                             "running",
				"export csv":                         "task,long,main.main,1,",
				"export csv --states":                "state,",
				"export chrome --states":             `"parse"`,
				"export perfetto -o x.pf":            "",
				"html -o x.html":                     "",
				"html -o y.html --with dir/my.trace": "",
				"verify":                             "dir/my.trace: sound\n",
				"dump":                               `track "main.main" g=1`,
				"export gotrace":                     string(b),
				"profile":                            "main.worker",
				"compare dir/my.trace":               "",
				"compare --view lines dir/my.trace":  "",
				"tail --from 0":                      "long",
				"anonymize -o z.scope":               "",
			} {
				words := strings.Fields(command)
				r := scopeview(append(words, "dir/my.trace")...)
				if r.code != exitOK || !strings.Contains(r.out, want) {
					t.Errorf("%s: %v", command, r)
				}
				if strings.Contains(r.out+r.err, temp) {
					t.Errorf("%s prints the name of a file in %s: %v", command, temp, r)
				}
			}
			if r := scopeview("export", "csv", "dir/my.trace", "-o", "dir/my.trace"); r.code != exitUsage || !strings.Contains(r.err, "is the trace itself") {
				t.Errorf("over itself: %v", r)
			}
			page, err := os.ReadFile("x.html")
			if err != nil || strings.Contains(string(page), temp) {
				t.Errorf("the page: %v", err)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("%d files are left, %v", len(left), err)
			}
		})
	}
}

// goTraceViews are commands that read a Go execution trace, without its name.
var goTraceViews = []string{
	"info", "top", "export csv", "export chrome -o x.json", "export perfetto -o x.pf", "html -o x.html", "tail", "profile --by sample", "profile", "states", "waits", "doctor",
}

// TestCutGoTraces: for a Go execution trace cut off at any length, every view says so; with
// --strict the exit code does, too.
func TestCutGoTraces(t *testing.T) {
	list := map[string][]byte{}
	for _, version := range []string{"go1.22", "go1.26"} {
		b := filetest.Read(t, goTraces+version+".trace")
		list[version] = b
	}
	t.Chdir(t.TempDir())
	for version, b := range list {
		for _, n := range []int{17, 300, 2000, 5000, len(b) - 1} {
			filetest.Write(t, "x.trace", b[:n])
			for _, command := range goTraceViews {
				if n == 17 && (command == "profile --by sample" || command == "profile") { // the decoder has not begun to read
					continue
				}
				r := scopeview(append(strings.Fields(command), "--strict", "x.trace")...)
				if said := r.out + r.err; r.code != exitLosses || !strings.Contains(said, "ends in the middle") && !strings.Contains(said, "its end is missing") {
					t.Errorf("%s, %d bytes, %s: %v", version, n, command, r)
				}
				if r := scopeview(append(strings.Fields(command), "x.trace")...); r.code != exitOK {
					t.Errorf("%s, %d bytes, %s without --strict: %v", version, n, command, r)
				}
			}
			if r := scopeview("verify", "x.trace"); r.code != exitFailed || !strings.Contains(r.out, "go-trace: ") {
				t.Errorf("%s, %d bytes: %v", version, n, r)
			}
			if testing.Short() {
				break
			}
		}
	}
}

// TestDamagedGoTraces: a Go execution trace with changed bytes is reported as damaged.
func TestDamagedGoTraces(t *testing.T) {
	b := filetest.Read(t, goTraces+"go1.26.trace")
	t.Chdir(t.TempDir())
	copy(b[900:], "\xff\xfe")
	filetest.Write(t, "x.trace", b)
	for _, command := range append(goTraceViews, "verify") {
		r := scopeview(append(strings.Fields(command), "x.trace")...)
		if r.code != exitFailed || !strings.Contains(r.out+r.err, "found invalid event type: 255") {
			t.Errorf("%s: %v", command, r)
		}
	}
	if r := scopeview("info", "x.trace"); !strings.Contains(r.out, "losses          128 of 7463 bytes of the Go execution trace could not be read\n") {
		t.Error(r)
	}
}

// TestBadGoTraces: unreadable traces are reported.
func TestBadGoTraces(t *testing.T) {
	good, err := filepath.Abs(goTraces + "go1.26.trace")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"go 1.21 trace\x00\x00\x00": "x.trace: it is of Go 1.21, and traces from before Go 1.22 have another format; go tool trace still shows it\n",
		"go 1.11 trace\x00\x00\x00": "x.trace: it is of Go 1.11, and traces from before Go 1.22 have another format; go tool trace still shows it\n",
		"go 1.99 trace\x00\x00\x00": "x.trace: it is of Go 1.99, which this scopeview does not know; a newer one may\n",
		"go 1.26 trace":             "x.trace: it is not a Go execution trace\n",
	} {
		filetest.Write(t, "x.trace", []byte(text))
		for _, command := range append(goTraceViews, "serve", "verify", "dump", "stacks", "export gotrace", "profile --by line", "export pprof -o x.pb", "compare --view lines "+good) {
			if r := scopeview(append(strings.Fields(command), "x.trace")...); r.code != exitFailed || r.err != "scopeview: "+want {
				t.Errorf("%s: %v", command, r)
			}
		}
	}
}

// TestGoTraceFrom: a Go execution trace may come from the running program, or be compressed.
func TestGoTraceFrom(t *testing.T) {
	b := filetest.Read(t, goTraces+"go1.26.trace")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="trace"`)
		if r.FormValue("seconds") == "5" {
			w.Write(b)
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	t.Chdir(t.TempDir())
	f, err := os.Create("go.trace.gz")
	if err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(f)
	zip.Write(b)
	if err := errors.Join(zip.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{server.URL + "/debug/pprof/trace?seconds=5", "go.trace.gz"} {
		if r := scopeview("info", from); r.code != exitOK || !strings.HasPrefix(r.out, "trace           "+from+", 7.30 KiB\n") || !strings.Contains(r.out, "122 task") {
			t.Errorf("%s: %v", from, r)
		}
		if r := scopeview("profile", from); r.code != exitOK || !strings.Contains(r.out, "main.worker") {
			t.Errorf("%s: %v", from, r)
		}
	}
}
