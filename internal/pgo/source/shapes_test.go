package source

import (
	"context"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

const shapesProgram = `package main

import (
	"io"
	"time"
	"unsafe"
)

type P struct {
	A, b int
	_    bool
}
type Q[T any] struct{ v T }
type E struct {
	P
	*Q2
	T string ` + "`json:\"t\"`" + `
}
type Q2 struct{ io.Reader }
type I interface {
	Z(int, ...string) (int, error)
	a()
	M()
}
type S string
type named *P

func (*P) M() {}

//go:noinline
func F[T any](v T) { x = v; inner(v); inner([]T{v}) }

//go:noinline
func inner[T any](v T) { x = v }

//go:noinline
func G[T interface{ *P | *Q2 }](v T) { x = v; inner(v) }

//go:noinline
func H[T interface{ M() }, U any](v T, u U) { x = v; y = u }

//go:noinline
func (q Q[T]) V() { x = q.v }

//go:noinline
func (q *Q[T]) W() { x = q.v; func() { inner(q.v) }() }

var x, y any

func main() {
	F(1)
	F(S(""))
	F(byte(1))
	F('a')
	F(time.Second)
	F(P{})
	F(&P{})
	F(named(nil))
	F([]P{})
	F([3]*P{})
	F(map[S]any{})
	F(any(1))
	F(error(nil))
	F(struct{}{})
	F(E{})
	F(I(nil))
	F([]I(nil))
	F(io.Reader(nil))
	F(func(int, ...S) error { return nil })
	F(func() (a, b P) { return })
	F(make(chan (<-chan int)))
	F(make(<-chan int))
	F(make(chan<- P))
	F(unsafe.Pointer(nil))
	F(Q[int]{})
	F([]Q[S]{})
	F([]Q[[]P]{})
	F(time.Time{})
	F([]interface{ M() }{})
	F([]struct{ X, y []byte }{})
	G(&P{})
	G(&Q2{})
	H(&P{}, 1.5)
	H[interface{ M() }](&P{}, []error{})
	Q[S]{}.V()
	(&Q[P]{}).W()
	type local struct{ n int }
	F(local{})
	F([]local{})
}
`

// TestShapes compares the names of generic functions derived from the source with those of a
// binary. Only those with types declared in functions may be missing.
func TestShapes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": shapesProgram} {
		filetest.Write(t, filepath.Join(dir, name), []byte(text))
	}
	build := exec.Command("go", "build", "-o", "prog", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "nm", filepath.Join(dir, "prog")).Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		_, name, ok := strings.Cut(line, " T main.")
		if !ok {
			_, name, ok = strings.Cut(line, " t main.")
		}
		if ok && strings.Contains(name, "[go.shape.") && !strings.Contains(name, "].func") {
			theirs["main."+strings.TrimSpace(name)] = true
		}
	}
	s, err := Load(context.Background(), Config{Dir: dir, Patterns: []string{"."}, Names: []string{"main.main"}})
	if err != nil || len(s.Failures) > 0 {
		t.Fatal(err, s.Failures)
	}
	ours := s.instances()
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if !theirs[name] && !strings.HasSuffix(name, ".W.func1") { // it is inlined
			t.Errorf("no binary has %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if !ours[name] && !strings.Contains(name, "local.") && !strings.Contains(name, "inner[go.shape.[]go.shape.") {
			t.Errorf("the source is not known to have %s", name)
		}
	}
	if len(theirs) < 40 {
		t.Errorf("the binary has %d instances", len(theirs))
	}
}
