package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
)

func init() { victim.Main(nil) } // does not return in a victim

// hotVictim starts a program that records with the backing shm and, while the test runs, copies no
// chunks to the trace, or only full ones.
func hotVictim(t *testing.T, every time.Duration) (v *victim.Victim, path string) {
	t.Helper()
	if victim.Backings()["shm"] == 0 {
		t.Skip("this build has no backing shm")
	}
	path = filepath.Join(t.TempDir(), "x.scope")
	v = victim.Start(t, victim.Config{Path: path, Backing: "shm", FlushEvery: every})
	return v, path
}

// countIn returns the number of the victim's scopes in top.
func countIn(t *testing.T, arg string) (n int64) {
	t.Helper()
	r := scopeview("top", arg, "--json")
	var doc struct {
		Scopes []struct {
			Name        string
			Count, Open int64
		}
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || r.code != exitOK {
		t.Fatalf("top %s: %v\n%v", arg, err, r)
	}
	for _, s := range doc.Scopes {
		if s.Name == victim.Name {
			n += s.Count
		}
	}
	return n
}

// scopesIn returns the number of the victim's scopes that tail printed.
func scopesIn(text string) int64 { return int64(strings.Count(text, " "+victim.Name+" ")) }

// servedOf returns the number of scopes in serve.
func servedOf(t *testing.T, arg string) (n int64) {
	t.Helper()
	s := serve(t, arg)
	defer s.ends()
	s.get(s.url)
	_, text := s.get(strings.Split(s.url, "?")[0] + "t/0/api/summary?from=0&to=1000000000000000")
	var doc struct{ Scopes []struct{ Count int64 } }
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("serve %s: %v: %s", arg, err, text)
	}
	for _, s := range doc.Scopes {
		n += s.Count
	}
	return n
}

// infoOf returns the state and the hot part in info.
func infoOf(t *testing.T, arg string) (state, hotPart string) {
	t.Helper()
	r := scopeview("info", arg, "--json")
	var doc struct {
		State, Backing string
		HotPart        string `json:"hot_part"`
	}
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || r.code != exitOK || doc.Backing != "shm" {
		t.Fatalf("info %s: %v\n%v", arg, err, r)
	}
	return doc.State, doc.HotPart
}

// TestG15HotFile: a running program is shown completely, by whatever name it is given; so is the
// trace of a killed one. Without the hot file there is less, and a message says so.
func TestG15HotFile(t *testing.T) {
	v, path := hotVictim(t, time.Hour)
	name := v.Hot()
	follow := followOf(t, path)
	v.Until(t, "some scopes", func() bool { return v.Ended() > 5000 })
	dir := filepath.Dir(path)
	for _, arg := range []string{path, dir, strconv.Itoa(v.PID), "/proc/" + strconv.Itoa(v.PID) + "/root" + path} {
		had := int64(v.Ended())
		if n := countIn(t, arg); n < had {
			t.Errorf("%s: %d scopes, and %d had ended", arg, n, had)
		}
		if n := servedOf(t, arg); n < had {
			t.Errorf("%s: serve shows %d scopes, and %d had ended", arg, n, had)
		}
		if state, part := infoOf(t, arg); state != "writing" || part != "joined" {
			t.Errorf("%s: %s, the hot part is %q", arg, state, part)
		}
	}
	copies := t.TempDir()
	for i, args := range [][]string{{"snapshot", path}, {"anonymize", path}} {
		to := filepath.Join(copies, strconv.Itoa(i)+".scope")
		had := int64(v.Ended())
		if r := scopeview(append(args, "-o", to)...); r.code != exitOK {
			t.Fatalf("%s: %v", args[0], r)
		}
		if args[0] == "anonymize" {
			continue // its names differ
		}
		if n := countIn(t, to); n < had {
			t.Errorf("%s: %d scopes, and %d had ended", args[0], n, had)
		}
		if state, part := infoOf(t, to); state != "closed" || part != "" {
			t.Errorf("%s: it is %s, its hot part %q", args[0], state, part)
		}
	}

	v.Kill(t)
	had := int64(v.Ended())
	whole := countIn(t, path)
	if whole < had {
		t.Errorf("killed: %d scopes, and %d had ended", whole, had)
	}
	if state, part := infoOf(t, path); state != "abandoned" || part != "joined" {
		t.Errorf("killed it is %s, its hot part %q", state, part)
	}
	follow.wait(t, had)
	if r := scopeview("verify", path); r.code != exitOK {
		t.Errorf("verify: %v", r)
	}
	if n := scopesIn(scopeview("tail", path, "--from", "0").out); n < had {
		t.Errorf("tail: %d scopes, and %d had ended", n, had)
	}
	if n := countIn(t, assembled(t, path)); n != whole {
		t.Errorf("assembled it has %d scopes, want %d", n, whole)
	}
	if n := servedOf(t, path); n != whole {
		t.Errorf("serve shows %d scopes, want %d", n, whole)
	}

	// The same without the hot file.
	away := name + ".away"
	if err := os.Rename(name, away); err != nil {
		t.Fatal(err)
	}
	cold := countIn(t, path)
	if cold >= whole {
		t.Errorf("without the hot file there are %d scopes, with it %d", cold, whole)
	}
	if state, part := infoOf(t, path); state != "abandoned" || part != "missing" {
		t.Errorf("without the hot file it is %s, and that %q", state, part)
	}
	const says = "records since the last round (a second) may be missing: they were in memory, in scopeview-"
	for _, args := range [][]string{{"info", path}, {"top", path}, {"export csv", path}, {"tail", path, "--from", "0"}} {
		if r := scopeview(args...); !strings.Contains(r.out+r.err, says) || r.code != exitOK {
			t.Errorf("%s does not say that the hot file is missing: exit %d, %s", args[0], r.code, r.err)
		}
	}
	if r := scopeview("verify", path); r.code != exitOK {
		t.Errorf("verify without the hot file: %v", r)
	}

	// It is adopted.
	if err := os.Rename(away, name); err != nil {
		t.Fatal(err)
	}
	before := dumped(path)
	a, err := hot.Adopt(func() bool { return true })
	if err != nil || a.Traces != 1 || a.Removed != 1 {
		t.Fatalf("adopted %+v, %v", a, err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the hot file is there: %v", err)
	}
	if dumped(path) != before {
		t.Error("the adopted trace is another")
	}
	if state, part := infoOf(t, path); state != "abandoned" || part != "joined" {
		t.Errorf("adopted it is %s, its hot part %q", state, part)
	}
	v.Check(t, path)
	t.Logf("G15: shm, killed: %d scopes had ended, %d are there, 0 lost, by each command, before and after %d chunks were adopted; %d without the hot file", had, whole, a.Chunks, cold)
}

// dumped returns the trace at path as text, without the unused chunks at its end.
func dumped(path string) string {
	text := scopeview("dump", path).out
	last := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
	if strings.HasPrefix(text[last:], "unborn") {
		return text[:last]
	}
	return text
}

// assembled returns the trace at path after dump, assemble and dump.
func assembled(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	text, to := filepath.Join(dir, "text"), filepath.Join(dir, "x.scope")
	for _, args := range [][]string{{"dump", path, "-o", text}, {"assemble", text, "-o", to}} {
		if r := scopeview(args...); r.code != exitOK {
			t.Fatalf("%v: %v", args, r)
		}
	}
	return to
}

// TestHotFileAfterStop: when a program stops, the trace is complete by itself, also for readers
// that read both files.
func TestHotFileAfterStop(t *testing.T) {
	v, path := hotVictim(t, 10*time.Millisecond)
	follow := followOf(t, path)
	j, err := hot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	v.Until(t, "some scopes", func() bool { return v.Ended() > 3000 })
	if j.State() != hot.Joined {
		t.Errorf("while it runs the hot part's state is %d", j.State())
	}
	v.Finish(t)
	n, err := j.Size()
	b := make([]byte, n)
	if _, e := j.ReadAt(b, 0); err != nil || e != nil || j.State() != hot.None {
		t.Errorf("%v, %v; the hot part's state is %d", err, e, j.State())
	}
	if whole, err := os.ReadFile(path); err != nil || !bytes.Equal(whole, b) {
		t.Errorf("joined it is %d bytes, the file %d, %v", len(b), len(whole), err)
	}
	if state, part := infoOf(t, path); state != "closed" || part != "" {
		t.Errorf("it is %s, its hot part %q", state, part)
	}
	h, _, err := format.DecodeHeader(b)
	if _, e := os.Stat(filepath.Join(hot.Dir, format.HotName(h.ID))); err != nil || !errors.Is(e, os.ErrNotExist) {
		t.Errorf("the hot file is there: %v, %v", e, err)
	}
	had := int64(v.Ended())
	follow.wait(t, had)
	if n := countIn(t, path); n != had {
		t.Errorf("%d scopes, want %d", n, had)
	}
	v.Check(t, path)
}

// tailing is a running tail.
type tailing struct {
	mu    sync.Mutex
	out   bytes.Buffer
	ended chan result
}

// followOf follows the trace from its start.
func followOf(t *testing.T, path string) *tailing {
	t.Helper()
	f := &tailing{ended: make(chan result, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		var errs bytes.Buffer
		code := execute(ctx, &streams{out: f, err: &errs}, []string{"tail", path, "--from", "0"})
		f.ended <- result{err: errs.String(), code: code}
	}()
	return f
}

func (f *tailing) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(b)
}

// wait waits for its end, when it must have printed at least that many scopes.
func (f *tailing) wait(t *testing.T, had int64) {
	t.Helper()
	select {
	case r := <-f.ended:
		f.mu.Lock()
		defer f.mu.Unlock()
		if n := scopesIn(f.out.String()); r.code != exitOK || n < had {
			t.Errorf("tail printed %d scopes, and %d had ended; exit %d, %s", n, had, r.code, r.err)
		}
	case <-time.After(30 * time.Second):
		t.Error("tail did not end")
	}
}
