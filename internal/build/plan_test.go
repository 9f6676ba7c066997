package build

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestPlanIsUsedAgain as long as its inputs, and the files that it refers to, are unchanged.
func TestPlanIsUsedAgain(t *testing.T) {
	c := opened(t)
	source, kept := filepath.Join(t.TempDir(), "a.go"), c.path("files", "a.go")
	make := func() *Plan {
		for _, path := range []string{source, kept} {
			filetest.Write(t, path, []byte("text"))
			if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		p := &Plan{Began: time.Now(), Inputs: map[string]at{}, Kept: map[string]at{}, file: c.path("plans", "key.json")}
		p.from(source)
		if err := p.keeps(filepath.Dir(kept)); err != nil {
			t.Fatal(err)
		}
		if err := p.save(c); err != nil {
			t.Fatal(err)
		}
		return c.plan("key")
	}
	for name, change := range map[string]func() error{
		"":                            func() error { return nil },
		"a source that was changed":   func() error { return os.WriteFile(source, []byte("new"), 0o644) },
		"a source that was removed":   func() error { return os.Remove(source) },
		"a kept file that was cut":    func() error { return os.Truncate(kept, 0) },
		"a kept file that is gone":    func() error { return os.Remove(kept) },
		"a directory that is gone":    func() error { return os.RemoveAll(filepath.Dir(kept)) },
		"a directory with more in it": func() error { return os.WriteFile(kept+"2", nil, 0o644) },
	} {
		if make() == nil {
			t.Fatalf("before %q: the plan is not used", name)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if got := c.plan("key") != nil; got != (name == "") {
			t.Errorf("after %q: the plan is used: %v", name, got)
		}
	}
}

// TestUnquoted: unquoted splits the value of a flag as the go command does, and quoted joins
// it.
func TestUnquoted(t *testing.T) {
	for s, want := range map[string][]string{
		"":                    nil,
		" a  b ":              {"a", "b"},
		`sh -c 'x "$@"' --`:   {"sh", "-c", `x "$@"`, "--"},
		`"a b"c d'e`:          {"a b", "c", "d'e"},
		quoted("a b", "it's"): {"a b", "it's"},
	} {
		if got, err := unquoted(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", s, got, err, want)
		}
	}
	if got, err := unquoted("a 'b"); err == nil {
		t.Errorf("%q", got)
	}
}
