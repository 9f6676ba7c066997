package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// store has a lock without a name, which is locked in three places.
type store struct {
	mu scope.Mutex
	n  int
}

// stays is the duration of a hold.
const stays = 2 * time.Millisecond

func (s *store) hold() {
	s.n++
	for began := time.Now(); time.Since(began) < stays; {
	}
}

//go:noinline
func (s *store) get() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold()
}

//go:noinline
func (s *store) put() {
	s.mu.Lock()
	s.hold()
	s.mu.Unlock()
}

//go:noinline
func sweepStore(all []*store) {
	for i := range all {
		all[i].mu.Lock()
		all[i].hold()
		all[i].mu.Unlock()
	}
}

// recordStore records a program that waits for its lock nearly all the time.
func recordStore(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.scope")
	stop := recordtest.Begin(t, path, gotrace.With(), scope.WithLockThreshold(scope.LocksAll))
	s := &store{}
	var wg sync.WaitGroup
	for _, f := range []func(){s.get, s.put, func() { sweepStore([]*store{s}) }, s.get} {
		wg.Go(func() {
			for range 30 {
				end := scope.Task("work")
				f()
				end()
			}
		})
	}
	wg.Wait()
	stop()
	return path
}

// TestLocksByObject: a lock of an unchanged program that is locked in three places is one lock in
// every view.
func TestLocksByObject(t *testing.T) {
	path := recordStore(t)
	const want = "main.store.mu"

	var waits struct{ Locks []struct{ Name string } }
	r := scopeview("waits", path, "--json")
	if err := json.Unmarshal([]byte(r.out), &waits); err != nil || r.code != exitOK {
		t.Fatal(err, r)
	}
	if len(waits.Locks) != 1 || waits.Locks[0].Name != want {
		t.Errorf("waits: %+v", waits.Locks)
	}
	if r := scopeview("waits", path, "--json", "--name", want); !strings.Contains(r.out, want) {
		t.Errorf("by its name it is not found: %v", r)
	}
	if r := scopeview("top", path); strings.Count(r.out, want) != 1 || strings.Contains(r.out, "objects_test.go") {
		t.Errorf("top: %v", r)
	}
	var says struct {
		Findings []struct{ Object, Text string }
	}
	r = scopeview("doctor", path, "--json")
	if err := json.Unmarshal([]byte(r.out), &says); err != nil {
		t.Fatal(err, r)
	}
	if len(says.Findings) == 0 || says.Findings[0].Object != want || !strings.Contains(says.Findings[0].Text, "lock "+want) {
		t.Errorf("doctor: %+v", says.Findings)
	}
	if names := pageNames(t, path); !slices.Contains(names, want) || slices.ContainsFunc(names, func(s string) bool { return strings.Contains(s, "objects_test.go") }) {
		t.Errorf("the page has the names %q", names)
	}
}

// pageNames returns the names in the data of a trace's page.
func pageNames(t *testing.T, path string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.html")
	if r := scopeview("html", path, "-o", file); r.code != exitOK {
		t.Fatal(r)
	}
	b := filetest.Read(t, file)
	_, data, _ := strings.Cut(string(b), `<script id="data" type="application/octet-stream">`)
	data, _, _ = strings.Cut(data, "</script>")
	packed, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || len(raw) < 8 {
		t.Fatalf("%d bytes of data, %v", len(raw), err)
	}
	var page struct{ Meta struct{ Names []string } }
	if err := json.Unmarshal(raw[8:8+binary.LittleEndian.Uint32(raw[4:])], &page); err != nil {
		t.Fatal(err)
	}
	return page.Meta.Names
}

// TestAnonymizedPlaces: an anonymized trace has neither the objects nor the places where they are
// locked.
func TestAnonymizedPlaces(t *testing.T) {
	path, out := recordStore(t), filepath.Join(t.TempDir(), "anonymous.scope")
	if r := scopeview("anonymize", path, "-o", out); r.code != exitOK {
		t.Fatal(r)
	}
	b := filetest.Read(t, out)
	for _, secret := range []string{"objects_test", "store", "cmd/scopeview"} {
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%q is in it", secret)
		}
	}
	r := scopeview("waits", out, "--json")
	if r.code != exitOK || strings.Contains(r.out, "main.store.mu") {
		t.Errorf("%v", r)
	}
}

// TestPackagesOfPlaces: for a package in which a lock is locked, all sources that may name the lock
// are stored.
func TestPackagesOfPlaces(t *testing.T) {
	dir := t.TempDir() + "/"
	for _, base := range []string{"a.go", "b.go", "b_test.go", "c.txt"} {
		filetest.Write(t, dir+base, []byte("package p\n"))
	}
	for _, c := range []struct{ places, want []string }{
		{[]string{"a.go", "b.go"}, []string{"a.go", "b.go"}},
		{[]string{"a.go", "b_test.go"}, []string{"a.go", "b.go", "b_test.go"}},
		{[]string{"none.go"}, []string{"none.go"}},
	} {
		var places []trace.Place
		for _, base := range c.places {
			places = append(places, trace.Place{File: dir + base})
		}
		names := map[string]bool{}
		packagesOfPlaces(places, &symbols.Sources{}, names)
		var got []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			got = append(got, strings.TrimPrefix(name, dir))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("of %q %q are stored, want %q", c.places, got, c.want)
		}
	}
}
