package others

import (
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// small is a program whose counts coverage has: hot functions, closures, generics, methods,
// recursion and panics.
var small = map[string]string{
	"go.mod": "module example.com/small\n\ngo 1.24\n",
	"small.go": `package small

import (
	"errors"
	"strings"
)

// Tree is a tree.
type Tree[T any] struct {
	left, right *Tree[T]
	value       T
}

// Put puts v where less says.
func (t *Tree[T]) Put(v T, less func(a, b T) bool) *Tree[T] {
	switch {
	case t == nil:
		return &Tree[T]{value: v}
	case less(v, t.value):
		t.left = t.left.Put(v, less)
	default:
		t.right = t.right.Put(v, less)
	}
	return t
}

// Each calls f.
func (t *Tree[T]) Each(f func(T)) {
	if t != nil {
		t.left.Each(f)
		f(t.value)
		t.right.Each(f)
	}
}

// Words counts words.
func Words(text string) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.Join(err, errors.New(strings.Repeat("empty", 1)))
		}
	}()
	var root *Tree[string]
	for _, w := range strings.Fields(text) {
		root = root.Put(w, func(a, b string) bool { return strings.ToLower(a) < strings.ToLower(b) })
	}
	if root == nil {
		fail()
	}
	root.Each(func(s string) { n += len(strings.TrimSpace(s)) })
	return n, nil
}

func fail() { panic(strings.ToUpper("nothing")) }
`,
	"small_test.go": `package small

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog ", 100)
	for range 40 {
		if n, err := Words(text); n != 3500 || err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := Words(""); err == nil {
		t.Fatal("no error")
	}
}
`,
}

// TestCounts: in a program with millions of calls, each call is either recorded or counted.
func TestCounts(t *testing.T) {
	c := at(t, t.TempDir())
	for name, text := range small {
		filetest.Write(t, filepath.Join(c.dir, name), []byte(text))
	}
	c.counts("example.com/small", 0)
}

// counts runs the tests of a package with all recording enabled, and compares the counts.
// With a smaller budget some would be estimates.
func (c *checkout) counts(pkg string, slack float64, flags ...string) {
	c.t.Helper()
	dir := c.t.TempDir()
	profile := filepath.Join(dir, "cover")
	args := append([]string{"test", "--args", "--keep", "--budget", "100%", "-o", dir, "-covermode=atomic", "-coverprofile=" + profile}, flags...)
	c.must(c.tool, append(args, pkg)...)
	c.compareCounts(pkg, profile, traces(c.t, dir, 1)[0], slack)
}
