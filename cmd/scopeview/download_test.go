package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// served returns a trace, a web server that has it, and its address.
func served(t *testing.T) (data []byte, mux *http.ServeMux, url string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	path := filepath.Join(t.TempDir(), "x.scope")
	tracetest.Write(t, path, `header path=go clock=monotonic start=1000 mono=1000 wall=1700000000000000000
state closed=1 tick=9001000
chunk blocks
name 2 "parse"
calib ticks=1000 mono=1000 wall=1700000000000000000
stop ticks=9001000
chunk records
task "parse" g=7 start=2000 stop=5002000 cpu=0/unknown
`)
	data = filetest.Read(t, path)
	mux = http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return data, mux, server.URL
}

// left checks that commands have left nothing in the directory for temporary files.
func left(t *testing.T) {
	t.Helper()
	files(t, os.Getenv("TMPDIR"))
}

func TestTraceAtAddress(t *testing.T) {
	data, mux, url := served(t)
	mux.HandleFunc("GET /debug/scope/download", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(ours, "1")
		w.Header().Set("Content-Disposition", `attachment; filename="gostats-1.scope"`)
		w.Write(data)
	})
	mux.HandleFunc("GET /ci/a%20b.scope", func(w http.ResponseWriter, r *http.Request) { w.Write(data) })
	mux.HandleFunc("GET /moved/download", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/debug/scope/download", http.StatusFound)
	})
	for _, command := range []string{"info", "top", "export csv", "html", "export chrome", "export perfetto", "stacks", "dump", "verify", "info --json"} {
		args := append(strings.Fields(command), url+"/debug/scope/")
		if r := scopeview(args...); r.code != exitOK || r.err != "" || r.out == "" {
			t.Errorf("%s: %v", command, r)
		}
		left(t)
	}
	for _, address := range []string{
		"/debug/scope", "/debug/scope/", "/debug/scope/download", "/debug/scope/status", "/debug/scope/#x", "/moved/", "/ci/a%20b.scope",
	} {
		for _, base := range []string{url, strings.Replace(url, "http", "HTTP", 1), strings.Replace(url, "//", "//user:secret@", 1)} {
			if r := scopeview("export", "csv", base+address); r.code != exitOK || !strings.Contains(r.out, "parse") || r.err != "" {
				t.Errorf("%s%s: %v", base, address, r)
			}
		}
	}
	for address, name := range map[string]string{"/debug/scope/": "gostats-1.scope", "/ci/a%20b.scope": "a_b.scope"} {
		if r := scopeview("info", url+address); !strings.Contains(r.out, name) {
			t.Errorf("%s: %v, want %s in it", address, r, name)
		}
	}
	for _, dashes := range []string{"", "--"} { // each TRACE may be one
		r := scopeview(strings.Fields("compare " + url + "/debug/scope/ " + dashes + " " + url + "/ci/a%20b.scope")...)
		if r.code != exitOK || r.err != "" || !strings.Contains(r.out, "gostats-1.scope") || !strings.Contains(r.out, "a_b.scope") {
			t.Errorf("compare: %v", r)
		}
		left(t)
	}
	// A message says that it is a copy, because users expect tail's trace to grow.
	if r := scopeview("tail", url+"/debug/scope/"); r.code != exitOK || !strings.Contains(r.out, "parse") || !strings.Contains(r.err, "copy") {
		t.Errorf("tail: %v", r)
	}
	if r := scopeview("tail", url+"/debug/scope/", "--from", "8ms"); r.code != exitOK || r.out != "" {
		t.Errorf("tail --from: %v", r)
	}
	v := serve(t, url+"/debug/scope/")
	if status, text := v.get(v.url); status != http.StatusOK {
		t.Errorf("serve: %d %s", status, text)
	}
	if code, errs := v.ends(); code != exitOK || !strings.Contains(errs, "does not grow") {
		t.Errorf("serve: exit %d, %q", code, errs)
	}
	left(t)
	// On a terminal the size is printed.
	if r := scopeviewOn(context.Background(), true, "top", url+"/debug/scope/"); r.code != exitOK || !strings.Contains(r.err, "12.0 KiB") {
		t.Errorf("on a terminal: %v", r)
	}
	if r := scopeview("export", "csv", url+"/debug/scope/", "-o", filepath.Join(t.TempDir(), "x.csv")); r.code != exitOK {
		t.Errorf("-o: %v", r)
	}
}

// TestNoTraceAtAddress: the errors are helpful, and no file is left.
func TestNoTraceAtAddress(t *testing.T) {
	data, mux, url := served(t)
	answer := func(path string, f http.HandlerFunc) { mux.HandleFunc("GET "+path+"/download", f) }
	answer("/none", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(ours, "1")
		http.Error(w, "nothing was recorded yet", http.StatusNotFound)
	})
	answer("/login", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>\x1b[31mLog in</title>")
	})
	answer("/short", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "SCOPE") })
	answer("/empty", func(w http.ResponseWriter, r *http.Request) {})
	answer("/denied", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusUnauthorized) })
	answer("/broken", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusBadGateway) })
	answer("/hostile", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(ours, "1")
		http.Error(w, "\x1b[31mred\n"+strings.Repeat("x", 1<<20), http.StatusConflict)
	})
	answer("/cut", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Write(data[:len(data)/2])
	})
	answer("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	gone := httptest.NewServer(mux)
	gone.Close()
	for address, want := range map[string]string{
		url + "/":         "no scopehttp.Handler at this path",
		url:               "no scopehttp.Handler at this path",
		url + "/x.scope":  "404 Not Found",
		url + "/none/":    url + "/none/: nothing was recorded yet",
		url + "/login/":   "not a scopeview trace but text/html",
		url + "/short/":   "not a scopeview trace but text/plain",
		url + "/empty/":   "not a scopeview trace",
		url + "/denied/":  "login",
		url + "/broken/":  "502 Bad Gateway",
		url + "/hostile/": "\\x1b[31mred",
		url + "/cut/":     "the download ended after 6.00 KiB of 12.0 KiB",
		url + "/loop/":    "give the address that it redirects to",
		gone.URL + "/":    "nothing listens there",
		"http://user:secret@" + strings.TrimPrefix(gone.URL, "http://"): "user:xxxxx@",
		"http://host.invalid/":      "http://host.invalid/: ",
		"http://":                   "names no host",
		"http:///debug/scope/":      "names no host",
		"https://[::1":              "missing ']'",
		"https" + url[len("http"):]: "HTTP response to HTTPS client",
	} {
		r := scopeview("top", address)
		if r.code == exitOK || r.out != "" || !strings.Contains(r.err, want) || strings.Contains(r.err, "secret") || strings.Contains(r.err, "\x1b") || len(r.err) > 1000 {
			t.Errorf("%s: %v, want %q in it", address, r, want)
		}
		left(t)
	}
}

// TestDownloadInterrupted: an interrupted download leaves nothing.
func TestDownloadInterrupted(t *testing.T) {
	data, mux, url := served(t)
	sent := make(chan bool)
	mux.HandleFunc("GET /download", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		close(sent)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-sent
		cancel()
	}()
	if r := scopeviewOn(ctx, false, "top", url); r.code != exitFailed || r.err != "scopeview: interrupted\n" || r.out != "" {
		t.Errorf("%v", r)
	}
	left(t)
}

// TestStalledDownload: a transfer that stalls is given up.
func TestStalledDownload(t *testing.T) {
	data, mux, url := served(t)
	mux.HandleFunc("GET /download", func(w http.ResponseWriter, r *http.Request) {
		w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	a, err := parseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	d := downloads{patience: 50 * time.Millisecond}
	defer d.remove()
	if path, err := d.fetch(t.Context(), &streams{}, a); err == nil || !strings.Contains(err.Error(), "nothing came for 50ms") {
		t.Errorf("%s, %v", path, err)
	}
}

func TestDownloadProgress(t *testing.T) {
	var errs strings.Builder
	s := &streams{err: &errs, errTerm: true}
	for _, test := range []struct {
		all, got int64
		took     time.Duration
		want     string
	}{
		{4 << 20, 8, 0, "\r8 B of 4.00 MiB \x1b[K\r\x1b[K"},
		{-1, 8 << 20, 4 * time.Second, "\r8.00 MiB, 2.00 MiB/s \x1b[K\r\x1b[K"},
		{40 << 20, 10 << 20, 10 * time.Second, "\r10.0 MiB of 40.0 MiB, 1.00 MiB/s, 30s left \x1b[K\r\x1b[K"},
	} {
		errs.Reset()
		a := &arrival{s: s, in: &incoming{all: test.all}, begin: time.Now().Add(-test.took)}
		a.in.got.Store(test.got)
		a.show()
		a.done()
		if errs.String() != test.want {
			t.Errorf("%+v: %q", test, errs.String())
		}
	}
}

// TestDownloadedName: a server chooses the file's name, but not its directory.
func TestDownloadedName(t *testing.T) {
	a, err := parseAddress("http://host/debug/scope/")
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"":                                      "trace.scope",
		`attachment; filename="a-1.scope"`:      "a-1.scope",
		`attachment; filename="../../a.scope"`:  "_.._a.scope",
		`attachment; filename="a\\b/c d.scope"`: "a_b_c_d.scope",
		`attachment; filename="...scope"`:       "trace.scope",
		`attachment; filename*=UTF-8''%0a%1b`:   "__.scope",
		`attachment; filename="` + strings.Repeat("x", 300) + `"`: strings.Repeat("x", 100) + ".scope",
		"nonsense; ;": "trace.scope",
	} {
		if got := fileName(&http.Response{Header: http.Header{"Content-Disposition": {header}}}, a); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}
