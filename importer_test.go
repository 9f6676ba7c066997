package scopeview_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/hostmod"
	"github.com/scopeview/scopeview/internal/testing/long"
)

// A user's program, and the same without scopeview.
const (
	importer = `package main

import (
	"fmt"

	"github.com/scopeview/scopeview/scope"
)

func main() {
	if err := scope.Start("traces/"); err != nil {
		fmt.Println(err)
	}
	defer scope.Task("f1")()
	fmt.Println("hello")
}
`
	plain = `package main

import "fmt"

func main() {
	fmt.Println("hello")
}
`
)

// fixed are the three modules that the recorder uses.
var fixed = []string{"github.com/edsrzf/mmap-go", "github.com/prometheus/procfs", "golang.org/x/sys"}

// TestWhatAnImporterTakesOn builds a small program in a module of its own and checks its
// dependencies, its size and whether it is static.
func TestWhatAnImporterTakesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two programs")
	}
	with, without := newModule(t, importer), newModule(t, plain)
	with.run(t, "build", "-o", "program", ".")
	without.run(t, "build", "-o", "program", ".")

	t.Run("packages", func(t *testing.T) {
		got := with.run(t, "list", "-deps", "-f", `{{if .Standard}}std {{end}}{{.ImportPath}}`, ".")
		checkPackages(t, got)
	})
	t.Run("go.mod", func(t *testing.T) {
		// Pruning must keep the tool's libraries out of an importer's go.mod.
		b := filetest.Read(t, filepath.Join(with.dir, "go.mod"))
		for line := range strings.Lines(string(b)) {
			name, ok := strings.CutSuffix(strings.TrimSpace(line), "// indirect")
			if name, _, _ = strings.Cut(strings.TrimPrefix(name, "require "), " "); ok && !slices.Contains(fixed, name) {
				t.Errorf("the importer's go.mod requires %s", name)
			}
		}
	})
	t.Run("size", func(t *testing.T) {
		if grown := with.size(t) - without.size(t); grown >= 2_000_000 {
			t.Errorf("the program grows by %d bytes, want less than 2 MB", grown)
		} else {
			t.Logf("the program grows by %d bytes", grown)
		}
	})
	t.Run("static", func(t *testing.T) {
		f, err := elf.Open(filepath.Join(with.dir, "program"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("the program has a segment %v: it is not static", p.Type)
			}
		}
	})
	t.Run("what it does not use", func(t *testing.T) {
		f, err := elf.Open(filepath.Join(with.dir, "program"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		ours := 0
		for _, s := range symbols {
			switch {
			case strings.HasPrefix(s.Name, module+"/internal/testpoint"):
				t.Errorf("the program has %s, which is for tests", s.Name)
			case strings.HasPrefix(s.Name, module+"/sweeper."):
				t.Errorf("the program has %s, and never calls scope.Stack", s.Name)
			case strings.HasPrefix(s.Name, module+"/internal/pool.(*ring)"):
				t.Errorf("the program has %s, and records into no ring", s.Name)
			case strings.HasPrefix(s.Name, module+"/scope."):
				ours++
			}
		}
		if ours == 0 {
			t.Error("no function of scope was found")
		}
	})
}

// A program with a debug server that is always watched, and the same with scopehttp.
const (
	debugged = `package main

import (
	"fmt"
	"net/http"

	"github.com/scopeview/scopeview/scope"
)

func main() {
	if err := scope.Start("traces/", scope.WithRing(64<<20)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(http.ListenAndServe("localhost:6060", nil))
}
`
	withHandler = `package main

import (
	"fmt"
	"net/http"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

func main() {
	if err := scope.Start("traces/", scope.WithRing(64<<20)); err != nil {
		fmt.Println(err)
	}
	http.Handle("/debug/scope/", scopehttp.Handler())
	fmt.Println(http.ListenAndServe("localhost:6060", nil))
}
`
)

// TestWhatScopehttpAdds: a program that imports net/http grows only slightly, and imports
// nothing that makes the linker keep uncalled methods.
func TestWhatScopehttpAdds(t *testing.T) {
	long.Skip(t, "links two programs")
	with, without := newModule(t, withHandler), newModule(t, debugged)
	with.run(t, "build", "-o", "program", ".")
	without.run(t, "build", "-o", "program", ".")
	if grown := with.size(t) - without.size(t); grown >= 700_000 { // half of it is encoding/json, which most such programs have
		t.Errorf("the program grows by %d bytes, want less than 700 kB", grown)
	} else {
		t.Logf("the program grows by %d bytes", grown)
	}
	before := strings.Fields(without.run(t, "list", "-deps", "."))
	for _, p := range strings.Fields(with.run(t, "list", "-deps", ".")) {
		switch {
		case slices.Contains(before, p), p == "encoding", strings.HasPrefix(p, "encoding/"), strings.Contains(p, "internal/"), strings.HasSuffix(p, "/scopehttp"), p == "html", p == "embed":
		default:
			t.Errorf("scopehttp also brings %s", p)
		}
	}
}

// checkPackages compares the packages with the golden file, which lists ours,
// the fixed modules' and the public ones of the standard library. The last
// depend on the Go release and are compared on the golden file's own.
func checkPackages(t *testing.T, list string) {
	const golden = "testdata/importer.golden"
	b := filetest.Read(t, golden)
	want := strings.Fields(string(b))
	release, want := want[0], want[1:]
	var got []string
	for line := range strings.Lines(list) {
		p, std := strings.CutPrefix(strings.TrimSpace(line), "std ")
		internal := strings.Contains("/"+p+"/", "/internal/") || strings.HasPrefix(p, "vendor/")
		if p != "example.com/importer" && !(std && internal) {
			got = append(got, p)
		}
	}
	slices.Sort(got)
	if !strings.HasPrefix(runtime.Version(), release) {
		isStd := func(p string) bool { return !strings.Contains(strings.Split(p, "/")[0], ".") }
		got, want = slices.DeleteFunc(got, isStd), slices.DeleteFunc(want, isStd)
	}
	for _, p := range got {
		if !slices.Contains(want, p) {
			t.Errorf("a program that imports scope now also gets %s; if that is meant, add it to %s", p, golden)
		}
	}
	for _, p := range want {
		if !slices.Contains(got, p) {
			t.Errorf("a program that imports scope no longer gets %s; take it out of %s", p, golden)
		}
	}
}

// goModule is a module in a directory of its own, for linux/amd64 without cgo. Paths are left
// out, so that a program's size does not depend on where the module is.
type goModule struct{ dir string }

func newModule(t *testing.T, program string) goModule {
	t.Helper()
	m := goModule{t.TempDir()}
	filetest.Write(t, filepath.Join(m.dir, "main.go"), []byte(program))
	hostmod.Complete(t, m.dir)
	return m
}

func (m goModule) run(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = m.dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOWORK=off")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

func (m goModule) size(t *testing.T) int64 {
	t.Helper()
	st, err := os.Stat(filepath.Join(m.dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}
