package instrument_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// module creates a module of files in a new directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for name, text := range files {
		filetest.Write(t, filepath.Join(dir, name), []byte(text))
	}
	return dir
}

// TestErrorPlaces: errors of the compiler and vet have the line and the column of the
// unedited program.
func TestErrorPlaces(t *testing.T) {
	wrong := module(t, map[string]string{
		"a.go": `package m; import ("fmt"; "os")

func one() { var unused int; fmt.Println("one") }

func two() { func() { missing1() }(); func() { fmt.Println(); missing2() }() }; func three() { missing3() }

func four() int { fmt.Println(); return "four" }

//line made.y:10
func five() { fmt.Println(); missing5() }
/*line made.y:20:5*/func six() { fmt.Println(); missing6() }
//line :30
func seven() { fmt.Println(); missing7() }

func eight(n int) {
	fmt.Println(); missing8() }

func nine(n int) { goto L; x := 1; L: fmt.Println(n, x) }
`,
		"b.go": "package m /* a */ ; /* b\n */ import \"fmt\"\nimport \"errors\"\r\n\r\nfunc ten() { fmt.Println(); missing10() }\r\n",
	})
	file, _ := overlay(t, wrong, "example.com/m", everything)
	want := run(t, wrong, nil, "go", "build", "-gcflags=-e", ".")
	got := run(t, wrong, nil, "go", "build", "-gcflags=-e", "-overlay="+file, ".")
	// If a directive has no column, the compiler adds the position in the text that it reads.
	physical := regexp.MustCompile(`\[.*\]`)
	same(t, "the compiler", sorted(physical.ReplaceAllString(got.err, "")), sorted(physical.ReplaceAllString(want.err, "")))
	if n := strings.Count(want.err, "missing"); n != 8 {
		t.Errorf("the compiler finds %d of 8 mistakes:\n%s", n, want.err)
	}

	vetted := module(t, map[string]string{
		"a.go": `package m; import "fmt"

func one(n int) { fmt.Printf("%s\n", n); func() { fmt.Printf("%d\n", "x"); fmt.Println() }(); fmt.Printf("%d") }

func two(h int) int { fmt.Println(h); for { }; return h }

func three(h string, d int) { fmt.Printf("%d %s", h, d) }
`,
	})
	file, _ = overlay(t, vetted, "example.com/m", withArgs)
	want = run(t, vetted, nil, "go", "vet", ".")
	got = run(t, vetted, nil, "go", "vet", "-overlay="+file, ".")
	same(t, "vet", sorted(got.err), sorted(want.err))
	if n := strings.Count(want.err, "a.go:"); n < 5 {
		t.Errorf("vet finds %d of 5 mistakes:\n%s", n, want.err)
	}
}

// TestHelpers: package testing reports the same lines.
func TestHelpers(t *testing.T) {
	dir := module(t, map[string]string{"a.go": "package m\n", "a_test.go": `package m

import "testing"

func equal(t *testing.T, a, b int) { t.Helper(); if a != b { t.Errorf("%d is not %d", a, b) } }

func twice(t *testing.T, n int) { t.Helper(); for range 2 { equal(t, n, 2) } }

func TestA(t *testing.T) {
	equal(t, 1, 2); twice(t, 3)
	t.Run("sub", func(t *testing.T) { t.Parallel(); equal(t, 4, 5); t.Log("here") })
	t.Cleanup(func() { t.Log("cleaned up") })
}

func TestB(t *testing.T) { defer func() { t.Log(recover()) }(); func() { var m map[int]int; m[1] = 1 }() }

func FuzzC(f *testing.F) { f.Add(1); f.Fuzz(func(t *testing.T, n int) { t.Log("fuzz", n); t.Fail() }) }

func Example() { println(); /* Output: x */ }
`})
	file, _ := overlay(t, dir, "example.com/m", withArgs)
	took := regexp.MustCompile(`\d+\.\d+s`)
	want := run(t, dir, nil, "go", "test", "-count=1", "-v", ".")
	got := run(t, dir, []string{"HOOKS_LOG=" + filepath.Join(t.TempDir(), "log")}, "go", "test", "-count=1", "-v", "-overlay="+file, ".")
	same(t, "go test", took.ReplaceAllString(got.out, ""), took.ReplaceAllString(want.out, ""))
	if n := strings.Count(want.out, "a_test.go:"); n != 8 {
		t.Errorf("package testing names %d of 8 lines:\n%s", n, want.out)
	}
}

// TestEscapes: recording arguments makes nothing else escape to the heap, and the compiler's
// messages on the program's own lines have the same columns.
func TestEscapes(t *testing.T) {
	corpus := program(t)
	small := module(t, map[string]string{"a.go": `package m

import "fmt"

type kind string

func record(n int, s string, b bool, k kind, f float64, u uint8) { fmt.Println(n); fmt.Println(s) }

func closure(n int) func(string) { fmt.Println(); return func(s string) { fmt.Println(n); fmt.Println(s) } }
`})
	for _, c := range []struct{ dir, module, flags string }{
		{corpus, "example.com/corpus", "-m -l"}, // without inlining: with it, literals are examined elsewhere
		{small, "example.com/m", "-m"},
	} {
		file, _ := overlay(t, c.dir, c.module, func(in *instrument.Input) { in.Args = true })
		want, got := escapes(t, c.dir, c.flags), escapes(t, c.dir, c.flags, "-overlay="+file)
		if !strings.Contains(want, "escapes to heap") {
			t.Fatalf("the compiler says %q", want)
		}
		same(t, "what escapes", got, want)
	}
}

var temporaries = regexp.MustCompile(`autotmp_\d+`) // numbered by the compiler

// escapes returns the compiler's messages on values that escape to the heap.
func escapes(t *testing.T, dir, compiler string, flags ...string) string {
	t.Helper()
	args := append([]string{"build", "-o", filepath.Join(t.TempDir(), "x"), "-gcflags=" + compiler}, flags...)
	r := run(t, dir, nil, "go", append(args, ".")...)
	if r.code != 0 {
		t.Fatal(r.err)
	}
	var heap []string
	for line := range strings.Lines(r.err) {
		if strings.Contains(line, "to heap") && !strings.Contains(line, "does not") {
			heap = append(heap, temporaries.ReplaceAllString(line, "autotmp"))
		}
	}
	slices.Sort(heap)
	return strings.Join(slices.Compact(heap), "")
}

func sorted(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
