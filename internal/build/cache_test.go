package build

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestCache(t *testing.T) {
	c := opened(t)
	path, err := c.keep("/m/a.go", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "text" || filepath.Base(path) != "a.go" {
		t.Errorf("%s: %q, %v", path, b, err)
	}
	if again, err := c.keep("/m/a.go", []byte("text")); err != nil || again != path {
		t.Errorf("the same text lies in %s, and now in %s: %v", path, again, err)
	}
	if other, err := c.keep("/other/a.go", []byte("text")); err != nil || other == path {
		t.Errorf("of two files with one text each has its own, or messages could not name the right one: %s, %v", other, err)
	}
	// A directory whose filling failed does not exist, and leaves nothing.
	broken := errors.New("broken")
	dir := c.path("some", "dir")
	if err := c.whole(dir, func(tmp string) error {
		if err := os.WriteFile(filepath.Join(tmp, "x"), nil, 0o644); err != nil {
			return err
		}
		return broken
	}); !errors.Is(err, broken) {
		t.Error(err)
	}
	if list, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(list) != 0 {
		t.Errorf("it left %v, %v", list, err)
	}
	for range 2 { // the second time it exists
		if err := c.whole(dir, func(tmp string) error { return os.WriteFile(filepath.Join(tmp, "x"), nil, 0o644) }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
		t.Error(err)
	}
}

// TestCacheThatLacksParts: removed or truncated files are made again.
func TestCacheThatLacksParts(t *testing.T) {
	c := opened(t)
	path, err := c.keep("/m/a.go", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("tex."), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.keep("/m/a.go", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	dir := c.path("some", "dir")
	fill := func(tmp string) error {
		if err := os.Mkdir(filepath.Join(tmp, "y"), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tmp, "y", "x"), []byte("text"), 0o644)
	}
	for _, damage := range []func(path string) error{os.RemoveAll, func(path string) error { return os.Truncate(path, 1) }, func(path string) error { return os.RemoveAll(filepath.Dir(path)) }} {
		if err := c.whole(dir, fill); err != nil {
			t.Fatal(err)
		}
		if err := damage(filepath.Join(dir, "y", "x")); err != nil {
			t.Fatal(err)
		}
		if err := c.whole(dir, fill); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "y", "x")); err != nil || string(b) != "text" {
			t.Errorf("%q, %v", b, err)
		}
		if list, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(list) != 1 {
			t.Errorf("it left %v, %v", list, err)
		}
	}
}

// TestCacheIsPrivate: edited source in a new cache is readable only by its user.
func TestCacheIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes there")
	}
	for name, fill := range map[string]func(c Cache) error{
		"keep":  func(c Cache) error { _, err := c.keep("a.go", nil); return err },
		"whole": func(c Cache) error { return c.whole(c.path("d", "e"), func(string) error { return nil }) },
	} {
		c := Cache{filepath.Join(t.TempDir(), "cache")}
		if err := fill(c); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o700 {
			t.Errorf("%s: the cache's mode is %v", name, st.Mode())
		}
	}
}

// TestCacheThatCannotBeWritten: the path of the cache is a file.
func TestCacheThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := Cache{file}
	_, err := c.keep("a.go", []byte("text"))
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "SCOPEVIEW_CACHE") {
		t.Errorf("%v", err)
	}
	if err := c.whole(c.path("d"), func(string) error { return nil }); err == nil || !strings.Contains(err.Error(), "SCOPEVIEW_CACHE") {
		t.Errorf("%v", err)
	}
}

func TestPruneTraces(t *testing.T) {
	c := opened(t)
	for _, dir := range []string{c.Traces("p"), t.TempDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			for _, ext := range []string{".scope", ".html", ".raw"} {
				path := filepath.Join(dir, string(rune('a'+i))+ext)
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, time.Time{}, time.Unix(int64(1000+i), 0)); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.PruneTraces(dir)
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		want := 36
		if within(dir, c.dir) {
			want = 3 * (keptTraces - 1) // makes room for a new one
		}
		if len(list) != want {
			t.Errorf("%s has %d files, want %d", dir, len(list), want)
		}
		if want < 36 && filepath.Base(list[0]) != "d.html" {
			t.Errorf("the oldest that stays is %s", list[0])
		}
	}
}

// opened returns a cache for the test.
func opened(t *testing.T) Cache {
	t.Setenv("SCOPEVIEW_CACHE", t.TempDir())
	c, err := OpenCache()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
