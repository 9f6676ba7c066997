package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

const triggerDir = "SCOPEVIEW_TEST_TRIGGER"

// TestTriggerProgram is not a test but the program of the tests below: it records into a ring, has
// a debug server, and answers /slow with a scope that exceeds its trigger.
func TestTriggerProgram(t *testing.T) {
	dir := os.Getenv(triggerDir)
	if dir == "" {
		t.Skip("it is started by others")
	}
	slow := filepath.Join(dir, "slow")
	if err := scope.Start(dir, scope.WithRing(4<<20), scope.WithFlushEvery(10*time.Millisecond), scope.WithTrigger("slow", time.Millisecond, slow)); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/scope/", scopehttp.Handler(scopehttp.WithDir(dir)))
	mux.HandleFunc("/slow", func(http.ResponseWriter, *http.Request) {
		defer scope.Task("slow")()
		time.Sleep(2 * time.Millisecond)
	})
	server := httptest.NewServer(mux)
	scope.Task("work")()
	os.Stdout.WriteString(server.URL + "\n")
	select {}
}

// inTurn starts programs, and returns the process number, address and directory of each.
func inTurn(t *testing.T, n int) (pids []int, urls, dirs []string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	for range n {
		dir := t.TempDir()
		pid, url, _ := ofTest(t, "TestTriggerProgram", triggerDir+"="+dir)
		pids, urls, dirs = append(pids, pid), append(urls, url), append(dirs, dir)
	}
	return pids, urls, dirs
}

// TestSnapshots copies several traces at once; a failure does not affect the others.
func TestSnapshots(t *testing.T) {
	pids, urls, dirs := inTurn(t, 3)
	t.Chdir(t.TempDir())
	r := scopeview("snapshot", strconv.Itoa(pids[0]), dirs[1], urls[2]+"/debug/scope/", "-o", "new/dir/")
	lines := strings.Fields(r.out)
	if r.code != exitOK || len(lines) != 3 || r.err != "" {
		t.Fatalf("%v", r)
	}
	files(t, "new/dir", lines...)
	for _, name := range lines {
		if top := scopeview("top", name); top.code != exitOK || !strings.Contains(top.out, "work") || filepath.Dir(name) != "new/dir" {
			t.Errorf("%s: %v", name, top)
		}
	}
	down := httptest.NewServer(nil)
	down.Close()
	r = scopeview("snapshot", dirs[0], "no.scope", down.URL+"/debug/scope/", dirs[1], "-o", "some")
	if r.code != exitFailed || len(strings.Fields(r.out)) != 2 {
		t.Errorf("%v", r)
	}
	for _, want := range []string{"no.scope: no such file", "nothing listens there", "2 of 4 snapshots could not be made"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("it does not say %q: %v", want, r)
		}
	}
	files(t, "some", strings.Fields(r.out)...)
	// The same trace several times, perhaps within a millisecond: each snapshot has its own file.
	r = scopeview("snapshot", dirs[0], dirs[0], dirs[0], dirs[0], "-o", "same/")
	if r.code != exitOK {
		t.Errorf("%v", r)
	}
	files(t, "same", make([]string, 4)...)
	r = scopeview("snapshot", dirs[0], "-o", "same")
	if r.code != exitOK {
		t.Errorf("into a directory that is there: %v", r)
	}
	files(t, "same", make([]string, 5)...)
	left(t)
	for _, args := range []string{"snapshot - -", "snapshot", "snapshot x --also y", "snapshot x --keep 3", "snapshot --triggered . x -o y", "snapshot --triggered .", "snapshot --triggered . -o y --keep 0", "snapshot --triggered . -o y --also -", "snapshot x --timeout -1s"} {
		if r := scopeview(strings.Fields(args)...); r.code != exitUsage {
			t.Errorf("%s: %v", args, r)
		}
	}
}

// TestSnapshotInterrupted: an interrupted snapshot leaves no partial file.
func TestSnapshotInterrupted(t *testing.T) {
	data, mux, url := served(t)
	asked := make(chan bool, 2)
	mux.HandleFunc("GET /debug/scope/download", func(w http.ResponseWriter, r *http.Request) {
		w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		asked <- true
		<-r.Context().Done()
	})
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; <-asked; cancel() }()
	r := scopeviewOn(ctx, false, "snapshot", url+"/debug/scope/", url+"/debug/scope/", "-o", "out/")
	if r.code != exitFailed || !strings.Contains(r.err, "interrupted") {
		t.Errorf("%v", r)
	}
	files(t, "out")
	left(t)
}

// watching is a running scopeview snapshot --triggered.
type watching struct {
	t    *testing.T
	sets <-chan string // as it prints them
	said *heard
	end  func() string // interrupts it, and returns its messages
}

// heard buffers a program's output.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

func watch(t *testing.T, args ...string) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	out, w := io.Pipe()
	said := &heard{}
	sets, code := make(chan string, 10), make(chan int, 1)
	go func() {
		code <- execute(ctx, &streams{out: w, err: said}, append([]string{"snapshot", "--triggered"}, args...))
		w.Close()
	}()
	go func() {
		defer close(sets)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			sets <- lines.Text()
		}
	}()
	return &watching{t, sets, said, func() string {
		t.Helper()
		cancel()
		if c := <-code; c != exitOK {
			t.Errorf("exit %d: %s", c, said.String())
		}
		return said.String()
	}}
}

// set waits for the next set, and returns its directory and its document.
func (w *watching) set() (dir string, doc setDocument) {
	w.t.Helper()
	select {
	case dir = <-w.sets:
	case <-time.After(20 * time.Second):
		w.t.Fatalf("no set came: %s", w.end())
	}
	b, err := os.ReadFile(filepath.Join(dir, setFile))
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return dir, doc
}

// get sends a request to a program.
func get(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// TestTriggered: when one of three programs is slow, all three are in a set; neighbours that are
// down, hang, or send other data do not affect the others.
func TestTriggered(t *testing.T) {
	pids, urls, dirs := inTurn(t, 3)
	data, mux, bad := served(t)
	mux.HandleFunc("GET /hangs/download", func(w http.ResponseWriter, r *http.Request) {
		w.Write(data[:100])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("GET /garbage/download", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "garbage\x00<html>") })
	mux.HandleFunc("GET /endless/download", func(w http.ResponseWriter, r *http.Request) {
		w.Write(data)
		for zeros := make([]byte, 4096); r.Context().Err() == nil; time.Sleep(time.Millisecond) {
			w.Write(zeros)
		}
	})
	out := filepath.Join(t.TempDir(), "sets")
	also := []string{urls[0] + "/debug/scope/", strconv.Itoa(pids[1]), urls[2] + "/debug/scope/", bad + "/hangs/", bad + "/garbage/", bad + "/endless/", strings.Replace(bad, "//", "//user:secret@", 1) + "/missing/"}
	args := []string{filepath.Join(dirs[0], "slow"), "-o", out, "--timeout", "2s"}
	for _, a := range also {
		args = append(args, "--also", a)
	}
	w := watch(t, args...)
	awaitThat(t, func() bool { _, err := os.Stat(out); return err == nil })
	get(t, urls[0]+"/slow")
	dir, doc := w.set()
	if !strings.HasPrefix(doc.Why, "slow took ") || len(doc.Traces) != 1+len(also) {
		t.Fatalf("%+v", doc)
	}
	var got []string
	for i, m := range doc.Traces {
		switch {
		case m.File == "":
			if i < 4 || m.Error == "" {
				t.Errorf("%+v", m)
			}
			continue
		case i > 3:
			t.Errorf("%+v is in the set", m)
		}
		if !slices.Contains(got, m.File) {
			got = append(got, m.File)
		}
		if r := scopeview("verify", filepath.Join(dir, m.File)); r.code != exitOK {
			t.Errorf("%v", r)
		}
	}
	if len(got) != 3 || doc.Traces[0].File != doc.Traces[1].File || strings.Contains(doc.Traces[7].From+doc.Traces[7].Error, "secret") {
		t.Errorf("%+v", doc.Traces)
	}
	files(t, dir, append(got, setFile)...)
	files(t, out, filepath.Base(dir))
	for i, want := range []string{"no snapshot within 2s", "not a scopeview trace", "no snapshot within 2s", "404"} {
		if m := doc.Traces[4+i]; !strings.Contains(m.Error, want) {
			t.Errorf("%s: %q, want %q in it", m.From, m.Error, want)
		}
	}
	if said := w.end(); strings.Contains(said, "secret") || strings.Count(said, "\n") != 4 {
		t.Errorf("it says %s", said)
	}
	left(t)
}

// awaitThat polls until is returns true.
func awaitThat(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen in time")
		}
	}
}

// TestTriggeredDirectory: only a complete snapshot of a trigger that appears while the directory is
// watched makes a set, and the directory may be created later.
func TestTriggeredDirectory(t *testing.T) {
	scriptTrace(t, "store")
	made := strings.TrimSpace(scopeview("snapshot", "store.scope").out)
	dir, out := filepath.Join(t.TempDir(), "later"), filepath.Join(t.TempDir(), "sets")
	w := watch(t, dir, "-o", out)
	put := func(name string, f func(to string) error) {
		t.Helper()
		if err := f(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := func(to string) error { return linkOrCopy(made, to) }
	awaitThat(t, func() bool { _, err := os.Stat(out); return err == nil })
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put("x-slow-link.scope", func(to string) error { return os.Symlink(made, to) })
	put("x-slow-dir.scope", func(to string) error { return os.Mkdir(to, 0o700) })
	put("x-slow-ring.scope", func(to string) error { return linkOrCopy("store.scope", to) })
	put("x-slow-begun.scope", func(to string) error { return os.WriteFile(to, make([]byte, 1<<16), 0o600) })
	put("x-snapshot-1.scope", snapshot)
	put("x-slow-1.txt", snapshot)
	put("x-slow-1.scope", snapshot)
	set, doc := w.set()
	if len(doc.Traces) != 1 || doc.Traces[0].File != "x-slow-1.scope" {
		t.Errorf("%+v", doc)
	}
	files(t, set, "x-slow-1.scope", setFile)
	put("x-slow-2.scope", snapshot)
	awaitThat(t, func() bool { return strings.Contains(w.said.String(), "x-slow-2.scope: no set for it") }) // it comes too soon after the last one
	if said := w.end(); !strings.Contains(said, "waiting until that can be done") {
		t.Errorf("it says %s", said)
	}
	for dir := range w.sets {
		t.Errorf("another set %s", dir)
	}
}

// TestTriggeredInterrupted: an incomplete set is removed.
func TestTriggeredInterrupted(t *testing.T) {
	data, mux, url := served(t)
	asked := make(chan bool, 1)
	mux.HandleFunc("GET /debug/scope/download", func(w http.ResponseWriter, r *http.Request) {
		w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		asked <- true
		<-r.Context().Done()
	})
	scriptTrace(t, "store")
	made := strings.TrimSpace(scopeview("snapshot", "store.scope").out)
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "sets")
	w := watch(t, dir, "-o", out, "--also", url+"/debug/scope/", "--also", "store.scope")
	awaitThat(t, func() bool { _, err := os.Stat(out); return err == nil })
	if err := linkOrCopy(made, filepath.Join(dir, "x-slow-1.scope")); err != nil {
		t.Fatal(err)
	}
	<-asked
	w.end()
	for set := range w.sets {
		t.Errorf("there is a set %s", set)
	}
	files(t, out)
	left(t)
}

// TestThinSets: the oldest sets are removed, and nothing else.
func TestThinSets(t *testing.T) {
	out := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(out, path)
		filetest.Write(t, path, []byte(text))
	}
	set := func(at, traces string) string {
		name := "20260101T00000" + at + ".000Z-x"
		write(name+"/set.json", `{"traces":[`+traces+`]}`)
		write(name+"/a.scope", "")
		return name
	}
	const a = `{"file":"a.scope"}`
	outside := filepath.Join(t.TempDir(), "victim.scope")
	filetest.Write(t, outside, nil)
	old, more := set("1", a), set("2", a+`,{"file":"../victim.scope"},{"file":"`+outside+`"},{"file":"notes.txt"},{"file":".."}`)
	write(more+"/notes.txt", "mine")
	write("victim.scope", "")
	none := set("0", "")
	kept, newest := set("3", a), set("4", a)
	write("20260101T000000.000Z-other/a.scope", "") // not a set
	write("notes/set.json", `{"traces":[`+a+`]}`)   // not named like a set
	var said []string
	thinSets(out, 2, func(text string, args ...any) { said = append(said, text) })
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{"20260101T000000.000Z-other", none, kept, more, newest, "notes", "victim.scope"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q are left, want %q (and not %s)", got, want, old)
	}
	files(t, filepath.Join(out, more), "notes.txt")
	if _, err := os.Stat(outside); err != nil || len(said) != 1 {
		t.Errorf("%v; it says %q", err, said)
	}
}
