//go:build linux || darwin

package live

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/scope"
)

// TestLive: records reach two clients within a second, each once, by the ruler's second.
func TestLive(t *testing.T) {
	path := record(t)
	scope.Task("n", -1)()
	r := start(t, path, nil)
	a, b := r.view(), r.view()
	if a.meta.Writer != timeline.WriterRunning || a.meta.PID != uint32(os.Getpid()) {
		t.Fatalf("%+v", a.meta)
	}
	a.until("the scope from before", func() bool { return a.got[number(-1)] > 0 })
	endOuter := scope.Task("outer")
	// Records on the heap are in the file after the recorder's next round.
	most := int64(time.Second / tenth)
	if onHeap(a.meta) {
		most *= 3
	}
	const n, each = 100, 20
	var longest int64
	turns := ruler(t)
	for i := 0; i < n; i += each {
		for k := range each {
			scope.Task("n", i+k)()
		}
		began, begin := time.Now(), turns.Load()
		a.until("new scopes", func() bool { return a.got[number(i+each-1)] > 0 })
		took := turns.Load() - begin
		t.Logf("from a scope's end to its viewer: %v, %d tenths by the ruler", time.Since(began), took)
		longest = max(longest, took)
	}
	if longest > most {
		t.Errorf("a scope is seen %d tenths of a second after it ended, want at most %d", longest, most)
	}
	a.until("the open scope", func() bool { return len(a.open) == 1 && a.open[0] == "outer" })
	old := a.cursor
	endOuter()
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, v := range []*viewer{a, b} {
		v.until("the end", func() bool { return v.meta.Writer == timeline.WriterClosed && len(v.open) == 0 })
		for i := -1; i < n; i++ {
			if v.got[number(i)] != 1 {
				t.Errorf("scope %d was delivered %d times", i, v.got[number(i)])
			}
		}
		if len(v.got) != n+1 {
			t.Errorf("%d scopes", len(v.got))
		}
		if f := v.places["outer"]; len(v.places) != 2 || !strings.HasSuffix(f, ".TestLive") {
			t.Errorf("outer is from %q, of %q", f, v.places)
		}
	}
	// A client with an old cursor gets exactly what it missed.
	back := *a
	back.cursor, back.got, back.places = old, map[string]int{}, map[string]string{}
	if p := back.live(); p.Meta.Reload || len(back.got) > 0 || len(p.values["name"]) != 1 || back.names[int(p.values["name"][0])] != "outer" {
		t.Errorf("with the old cursor: reload %v, %v", p.Meta.Reload, p.values["name"])
	}
	// The whole trace equals the sum of the increments.
	whole := r.view()
	if len(whole.got) != n+1 || whole.meta.Writer != timeline.WriterClosed || whole.meta.Scopes != a.meta.Scopes {
		t.Errorf("the whole has %d scopes, %+v", len(whole.got), whole.meta)
	}
}

// TestOldCursor: an old cursor, or one of another server, requires loading the whole.
func TestOldCursor(t *testing.T) {
	path := record(t)
	r := start(t, path, func(s *Server) { s.most.grown = 10 })
	v := r.view()
	for _, c := range []cursor{{session: "00000000"}, {session: strings.Split(v.cursor, "_")[0], next: 1 << 40}} {
		p := container(t, r.get("/t/0/api/live?cursor="+c.String()))
		if !p.Meta.Reload {
			t.Errorf("cursor %v is taken", c)
		}
	}
	negative, err := parseCursor(v.cursor)
	if err != nil {
		t.Fatal(err)
	}
	negative.names = -1
	for _, bad := range []string{"", "x", "a_1_2_3_4_5", "a_1_2_3_4_5_6_7_x", "a_1_2_3_4_5_6_7_8_9", negative.String()} {
		if resp := r.get("/t/0/api/live?cursor=" + bad); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("cursor %q: %s", bad, resp.Status)
		}
	}
	for i := range 20 {
		scope.Task("n", i)()
	}
	for deadline := time.Now().Add(patience); ; {
		p := v.live()
		if p.Meta.Reload {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the whole grew and is not asked for again")
		}
	}
	if v.whole(); len(v.got) != 20 {
		t.Errorf("%d scopes", len(v.got))
	}
}

const victim = "SCOPEVIEW_LIVE_VICTIM"

// TestKilled: a killed writer is reported, and all its records stay.
func TestKilled(t *testing.T) {
	if path := os.Getenv(victim); path != "" {
		if err := scope.Start(path); err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			scope.Task("n", i)()
		}
		defer scope.Task("open")()
		fmt.Println("recorded")
		select {}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "victim.scope")
	c := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	c.Env = append(os.Environ(), victim+"="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip("no child can be started: ", err)
	}
	defer c.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "recorded\n" {
		t.Fatalf("%q, %v", line, err)
	}
	r := start(t, dir, nil)
	if l := listOf(t, r); l.Traces[0].State != timeline.WriterRunning {
		t.Errorf("the list says %+v", l.Traces[0])
	}
	v := r.view()
	if v.meta.Writer != timeline.WriterRunning {
		t.Fatalf("%+v", v.meta)
	}
	v.until("what it records", func() bool { return len(v.got) == 50 })
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	v.until("the end of the writer", func() bool { return v.meta.Writer == timeline.WriterGone })
	if len(v.got) != 50 || len(v.open) != 1 || !strings.Contains(fmt.Sprint(v.meta.Banner), "killed") {
		t.Errorf("%d scopes, open %q, %v", len(v.got), v.open, v.meta.Banner)
	}
	if v.whole(); v.meta.Writer != timeline.WriterGone || len(v.got) != 50 {
		t.Errorf("the whole: %d scopes, %+v", len(v.got), v.meta)
	}
	awaitList(t, r, func(l List) bool { return l.Traces[0].State == timeline.WriterGone })
}

// TestFileChanges: a removed trace stays on the screen; one that was overwritten or
// truncated is loaded again.
func TestFileChanges(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.scope")
	startedAt(t, path, 100)
	r := start(t, dir, nil)
	body(t, r.get("/"))
	v := r.view()
	other := filepath.Join(dir, "other")
	startedAt(t, other, 200)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if p := v.live(); !p.Meta.Reload {
		t.Error("another file in its place is not seen")
	}
	if v.whole(); v.meta.Start.Unix() != 200 {
		t.Errorf("start %v", v.meta.Start)
	}
	startedAt(t, path, 300)
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if p := v.live(); !p.Meta.Reload {
		t.Error("another trace written over it is not seen")
	}
	v.whole()
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if p := v.live(); p.Meta.Reload {
		t.Error("a new time alone makes it another trace")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	v.until("the removal", func() bool { return strings.Contains(fmt.Sprint(v.meta.Banner), "removed") })
	if v.whole(); v.meta.Start.Unix() != 300 {
		t.Errorf("start %v", v.meta.Start)
	}
}

func TestLiveFileChanges(t *testing.T) {
	l := newLive(t)
	r := start(t, l, nil)
	v := r.view()
	if v.meta.Writer != timeline.WriterRunning {
		t.Fatalf("writer %s", v.meta.Writer)
	}
	if err := os.Truncate(l, 0); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); !v.live().Meta.Reload; {
		if time.Now().After(deadline) {
			t.Fatal("the truncation is not seen")
		}
	}
	if err := os.Remove(l); err != nil {
		t.Fatal(err)
	}
	if resp := r.get("/t/0/api/whole"); resp.StatusCode != http.StatusNotFound || !strings.Contains(body(t, resp), "no such file") {
		t.Errorf("%s", resp.Status)
	}
}

// TestLoadedOnce: all clients share a session, which is dropped when it is no longer used.
func TestLoadedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	startedAt(t, path, 100)
	r := start(t, path, func(s *Server) { s.idle = 100 * time.Millisecond })
	ids := make(chan string, 8)
	for range cap(ids) {
		go func() {
			x, err := r.s.session(context.Background(), r.s.shelf.book(0))
			if err != nil {
				t.Error(err)
			}
			ids <- x.id
		}()
	}
	first := <-ids
	for range cap(ids) - 1 {
		if id := <-ids; id != first {
			t.Errorf("sessions %s and %s", first, id)
		}
	}
	b := r.s.shelf.book(0)
	loaded := func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.current != nil
	}
	for deadline := time.Now().Add(patience); loaded(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the trace stays loaded")
		}
	}
	if v := r.view(); strings.HasPrefix(v.cursor, first) {
		t.Error("the cursor is of a session that was dropped")
	}
}

// TestNobodyWaits: loading ends without waiting requests.
func TestNobodyWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	if err := os.WriteFile(path, nil, 0o600); err != nil { // it waits for the header
		t.Fatal(err)
	}
	r := start(t, filepath.Dir(path), func(s *Server) { s.idle = 100 * time.Millisecond })
	b := r.s.shelf.add("a.scope")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := r.s.session(ctx, b)
			ended <- err
		}()
	}
	var x *session
	for x == nil {
		b.mu.Lock()
		if b.current != nil && b.current.waiting == 2 {
			x = b.current
		}
		b.mu.Unlock()
		runtime.Gosched()
	}
	cancel()
	for range 2 {
		if err := <-ended; err != context.Canceled {
			t.Errorf("error %v", err)
		}
	}
	select {
	case <-x.ready:
	case <-time.After(patience):
		t.Fatal("it goes on loading")
	}
	b.mu.Lock()
	if b.current != nil || x.err != errOver {
		t.Errorf("error %v", x.err)
	}
	b.mu.Unlock()
	// The next request gets it, as soon as it is there.
	done := make(chan *viewer, 1)
	go func() {
		defer close(done) // also when the view ends the test
		done <- r.view()
	}()
	other := filepath.Join(t.TempDir(), "b.scope")
	startedAt(t, other, 100)
	writeHeaderLast(t, path, other)
	if v := <-done; v == nil || v.meta.Start.Unix() != 100 {
		t.Errorf("%+v", v)
	}
}

// writeHeaderLast fills a file with a trace as a recorder does: a concurrent reader finds no
// header, and never half a trace.
func writeHeaderLast(t *testing.T, path, from string) {
	t.Helper()
	b := filetest.Read(t, from)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const header = 4096
	for _, at := range []int{header, 0} {
		if _, err := f.WriteAt(b[at:], int64(at)); err != nil {
			t.Fatal(err)
		}
		b = b[:header]
	}
}

// TestEnds: nothing is running when Serve has returned, whatever the connections.
func TestEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		path := newLive(t)
		r := start(t, path, nil)
		v := r.view()
		polls := make(chan struct{})
		go func() {
			defer close(polls)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			for ctx.Err() == nil {
				req, _ := http.NewRequestWithContext(ctx, "GET", "http://"+r.addr+v.path+"live?cursor="+v.cursor, nil)
				req.AddCookie(&http.Cookie{Name: r.s.guard.cookie, Value: r.s.guard.token})
				resp, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					return
				}
				resp.Body.Close()
			}
		}()
		begin := time.Now()
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("ending took %v", d)
		}
		<-polls
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// TestParts: tiles and summaries of a trace that is too large to be sent completely.
func TestParts(t *testing.T) {
	var b strings.Builder
	b.WriteString("header start=1000\nchunk blocks\nname 2 \"n\"\nchunk records\n")
	for i := range 100 {
		link := ""
		if i == 0 {
			link = " | addr:0x0123456789abcdef addr:1 addr:2 addr:0"
		}
		fmt.Fprintf(&b, "task \"n\" g=7 start=%d stop=%d cpu=0/unknown%s\n", 2000+100*i, 2050+100*i, link)
	}
	path := filepath.Join(t.TempDir(), "a.scope")
	tracetest.Write(t, path, b.String())
	r := start(t, path, func(s *Server) { s.most = amounts{whole: 50, merged: 20, part: 30, runs: 20, parts: 10, grown: 1000} })
	v := r.view()
	if !v.meta.Reduced || v.meta.Res == 0 || v.meta.Scopes != 100 || len(v.got) > 20 {
		t.Errorf("%+v, %d items", v.meta, len(v.got))
	}
	tile := func(from, to, px int) *packed {
		t.Helper()
		return container(t, r.get(fmt.Sprintf("/t/0/api/tile?from=%d&to=%d&px=%d", from, to, px)))
	}
	if p := tile(1000, 2000, 100); p.Tile.Res != 0 || len(p.values["start"]) != 11 || p.values["start"][0] != 1000 {
		t.Errorf("res %d, %v", p.Tile.Res, p.values["start"])
	}
	if p := tile(0, 11000, 10); p.Tile.Res != 1024 || !slices.Equal(p.values["start"], []float64{1000, 4100, 8200}) {
		t.Errorf("res %d, %v", p.Tile.Res, p.values["start"])
	}
	var sum timeline.Summary
	resp := r.get("/t/0/api/summary?from=1000&to=2000")
	decode(t, resp, &sum)
	if len(sum.Scopes) != 1 || sum.Scopes[0].Count != 11 || sum.Scopes[0].Total != 500 {
		t.Errorf("%+v", sum)
	}
	for query, total := range map[string]int64{"": 25, "&whole=1": 50} {
		decode(t, r.get("/t/0/api/summary?from=1000&to=1025"+query), &sum)
		if len(sum.Scopes) != 1 || sum.Scopes[0].Total != total || sum.Scopes[0].Max != 50 {
			t.Errorf("%q: %+v", query, sum)
		}
	}
	// With more than 20 executions their contents are left out, and so are further
	// executions.
	runs := container(t, r.get("/t/0/api/runs?name=2&from=1000&to=2000"))
	if got := runs.values["start"]; runs.Tile.Res != 0 || runs.Tile.Alone || runs.Tile.Left != 0 || len(got) != 11 || got[0] != 1000 {
		t.Errorf("%+v, %v", runs.Tile, got)
	}
	runs = container(t, r.get("/t/0/api/runs?name=2&from=0&to=11000"))
	if got := runs.values["start"]; !runs.Tile.Alone || runs.Tile.Left != 80 || len(got) != 20 {
		t.Errorf("%+v, %v", runs.Tile, got)
	}
	const id = "0123456789abcdef0000000000000001"
	if got := container(t, r.get("/t/0/api/request?trace="+id)).values["start"]; v.meta.Linked != 1 || len(got) != 1 || got[0] != 1000 {
		t.Errorf("the request has scopes at %v, of %d links", got, v.meta.Linked)
	}
	for _, bad := range []string{"request", "request?trace=0123456", "request?trace=0123456X", "request?trace=" + id + "0", "runs?from=0&to=1", "runs?name=x&from=0&to=1", "runs?name=65536&from=0&to=1", "runs?name=2", "tile", "tile?from=1&to=2", "tile?from=2&to=1&px=1", "tile?from=1&to=2&px=0", "tile?from=x&to=2&px=1", "summary?from=0&to=99999999999999999999", "summary"} {
		if resp := r.get("/t/0/api/" + bad); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", bad, resp.Status)
		}
	}
}

// TestNoTrace: a trace that can't be shown gives a sentence.
func TestNoTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	startedAt(t, path, 100)
	r := start(t, filepath.Dir(path), nil)
	body(t, r.get("/"))
	filetest.Write(t, path, []byte("text"))
	if resp := r.get("/t/0/api/whole"); resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body(t, resp), "not a scopeview trace") {
		t.Errorf("%s", resp.Status)
	}
	r.s.mu.Lock()
	r.s.busy += requestsMax
	r.s.mu.Unlock()
	if resp := r.get("/"); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s", resp.Status)
	}
	r.s.mu.Lock()
	r.s.busy -= requestsMax
	r.s.mu.Unlock()
	for _, bad := range []string{path, filepath.Join(t.TempDir(), "none"), os.DevNull} {
		if _, err := New(Options{Path: bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: error %v", bad, err)
		}
	}
	for _, bad := range []string{path, filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := New(Options{Path: t.TempDir(), With: bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("with %s: error %v", bad, err)
		}
	}
}
