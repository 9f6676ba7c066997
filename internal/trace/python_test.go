package trace_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// A reader that was written from docs/format.md, in another language, agrees
// with ours on every golden, on what was recorded with each version, and on a
// trace that the model of the writers made.
func TestPythonReader(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3: ", err)
	}
	dir := t.TempDir()
	args := []string{"testdata/reader.py"}
	want := map[string][]string{}
	add := func(name string, data []byte) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := trace.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		lines := []string{}
		err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
			lines = append(lines, string(text.AppendEvent(nil, tr, e)))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		args, want[path] = append(args, path), lines
	}
	for _, g := range goldens(t) {
		if g.success() {
			add(g.name, g.bytes(t))
		}
	}
	for _, r := range recordings(t) {
		add(filepath.Base(filepath.Dir(r.path))+"-"+filepath.Base(r.path), r.data)
	}
	w := newWriter(5)
	for range 4000 {
		w.step()
	}
	w.settle(true)
	add("model", w.image[:w.size])
	for seed, closes := range []bool{false, true} {
		ring := newRingWriter(uint64(seed), 20)
		for range 60000 {
			ring.step()
		}
		ring.settle(closes)
		add(fmt.Sprintf("ring-%d", seed), ring.image[:ring.size])
	}

	out, err := exec.Command(python, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, part := range strings.Split("\n"+strings.TrimSuffix(string(out), "\n"), "\n== ")[1:] {
		lines := strings.Split(part, "\n")
		path, got := lines[0], lines[1:]
		name := filepath.Base(path)
		if len(got) != len(want[path]) {
			t.Errorf("%s: python reads %d events, we %d", name, len(got), len(want[path]))
			continue
		}
		for i := range got {
			if got[i] != want[path][i] {
				t.Errorf("%s: event %d: python reads\n%s\nwe read\n%s", name, i, got[i], want[path][i])
				break
			}
		}
		delete(want, path)
	}
	if len(want) > 0 {
		t.Errorf("python does not tell of %d traces", len(want))
	}
}
