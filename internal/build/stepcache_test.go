package build

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// TestAgain: a result is made again if a file of it is missing, or a source has changed;
// failures are not stored.
func TestAgain(t *testing.T) {
	c := opened(t)
	source := filepath.Join(t.TempDir(), "source")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	var times int
	var fails error
	check := func(want int) (files map[string]string) {
		t.Helper()
		rest := ""
		files, err := c.stored(hash([]byte("key")), &rest, func() (map[string]string, map[string]at, error) {
			times++
			rest = "the rest"
			files, err := c.kept(map[string][]byte{"a.go": []byte("text")})
			return files, map[string]at{source: stat(source)}, errors.Join(err, fails)
		})
		if !errors.Is(err, fails) || times != want || fails == nil && rest != "the rest" {
			t.Fatalf("made %d times, want %d; %q, %v", times, want, rest, err)
		}
		return files
	}
	fails = errors.New("no")
	check(1)
	fails = nil
	first := check(2)
	if second := check(2); !maps.Equal(first, second) || len(first) != 1 {
		t.Errorf("%v, and then %v", first, second)
	}
	write("one more")
	check(3)
	if err := os.Remove(first["a.go"]); err != nil {
		t.Fatal(err)
	}
	check(4)
	if b, err := os.ReadFile(first["a.go"]); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
}
