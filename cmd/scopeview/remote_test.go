package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

const remoteDir = "SCOPEVIEW_TEST_REMOTE"

// TestRemoteProgram is not a test but the program of the tests below: it records into a ring and
// has a debug server, whose address it prints.
func TestRemoteProgram(t *testing.T) {
	dir := os.Getenv(remoteDir)
	if dir == "" {
		t.Skip("it is started by others")
	}
	if err := scope.Start(dir, scope.WithRing(4<<20), scope.WithFlushEvery(10*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/scope/", scopehttp.Handler(scopehttp.WithDir(dir)))
	server := httptest.NewServer(mux)
	for i := 0; ; i++ {
		if i == 1000 { // there is something to read for early requests
			fmt.Println(server.URL + "/debug/scope/")
		}
		func() {
			defer scope.Task("work", i)()
			defer scope.Task("store")()
		}()
		if i%1000 == 0 {
			time.Sleep(time.Millisecond) // a program that is mostly idle
		}
	}
}

// remote starts the program and returns its address and the directory of its
// trace.
func remote(t *testing.T) (address, dir string, kill func()) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	_, address, kill = ofTest(t, "TestRemoteProgram", remoteDir+"="+dir)
	return address, dir, kill
}

// ofTest starts a program that is a test of this package, and returns its process number and the
// address that it prints.
func ofTest(t *testing.T, name, env string) (pid int, address string, kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+name+"$")
	c.Env = append(os.Environ(), env)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	t.Cleanup(kill)
	if address, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return c.Process.Pid, strings.TrimSpace(address), kill
}

// TestRemote reads and controls a program over HTTP.
func TestRemote(t *testing.T) {
	address, dir, kill := remote(t)
	for _, command := range []string{"top", "info", "export csv --to 1ms", "tail --name store", "verify"} {
		if r := scopeview(append(strings.Fields(command), address)...); r.code != exitOK || r.out == "" {
			t.Errorf("%s: %.2000v", command, r)
		}
		left(t)
	}
	if r := scopeview("top", address); !strings.Contains(r.out, "work") || !strings.Contains(r.out, "store") {
		t.Errorf("top: %v", r)
	}
	control := func(command, text, want string) {
		t.Helper()
		said, err := controlAddress(t.Context(), address, command, text)
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("%s %q: %q, %v", command, text, said, err)
		}
	}
	control("off", "", "switched off")
	control("on", "", "switched on")
	control("filter", "-work", "the filter is now -work")
	control("snapshot", "", dir)
	if _, err := controlAddress(t.Context(), address, "filter", "a,,b"); err == nil || !strings.Contains(err.Error(), "a pattern is empty") {
		t.Errorf("a filter that is none: %v", err)
	}
	if _, err := controlAddress(t.Context(), address, "snapshot", filepath.Join(t.TempDir(), "x.scope")); err == nil || !strings.Contains(err.Error(), "beside its trace") {
		t.Errorf("a snapshot somewhere: %v", err)
	}
	snapshots, err := filepath.Glob(filepath.Join(dir, "*-snapshot-*.scope"))
	if err != nil || len(snapshots) != 1 {
		t.Fatalf("snapshots %q, %v", snapshots, err)
	}
	if r := scopeview("top", snapshots[0]); r.code != exitOK || !strings.Contains(r.out, "store") {
		t.Errorf("the snapshot: %v", r)
	}
	kill()
	if r := scopeview("top", address); r.code != exitFailed || !strings.Contains(r.err, "nothing listens there") {
		t.Errorf("of a program that was killed: %v", r)
	}
	if _, err := controlAddress(t.Context(), address, "off", ""); err == nil || !strings.Contains(err.Error(), "nothing listens there") {
		t.Errorf("off of a program that was killed: %v", err)
	}
	left(t)
}

// TestControlSomethingElse: an answer from another server counts as a failure.
func TestControlSomethingElse(t *testing.T) {
	_, mux, url := served(t)
	mux.HandleFunc("POST /all/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "fine") })
	mux.HandleFunc("POST /away/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/all/off", http.StatusTemporaryRedirect)
	})
	for address, want := range map[string]string{
		url + "/all/":    "nothing was done",
		url + "/away/":   "redirects to: /all/off",
		url + "/":        "no scopehttp.Handler at this path",
		url + "/x.scope": "a file on a server",
		"http://":        "names no host",
	} {
		if said, err := controlAddress(context.Background(), address, "off", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q in it", address, said, err, want)
		}
	}
}
