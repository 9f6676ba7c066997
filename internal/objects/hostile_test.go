package objects

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// good is a file whose lock in line 8 has a name.
const good = `package p

import "sync"

type t struct{ mu sync.Mutex }

func (x *t) f() {
	x.mu.Lock()
}
`

// nameIn names line 8 of p.go, in a directory with the given files.
func nameIn(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		filetest.Write(t, filepath.Join(dir, name), []byte(text))
	}
	return namer(&symbols.Sources{}).name(&trace.Place{Kind: format.LockMutex, Function: "p.(*t).f", File: filepath.Join(dir, "p.go"), Line: 8}).Name
}

// TestHostile: for any source, there is no wrong name, and the tool does not crash.
func TestHostile(t *testing.T) {
	const many = 400_000
	nest := func(before, in, after string, n int) string {
		return good + "\nvar _ = " + strings.Repeat(before, n) + in + strings.Repeat(after, n) + "\n"
	}
	elses := "\nfunc g(x int) {\n" + strings.Repeat("if x == 0 {\n} else ", many/10) + "{\n}\n}\n"
	blocks := "\nfunc g() {\n" + strings.Repeat("{\n", many) + strings.Repeat("}\n", many) + "}\n"
	for _, c := range []struct {
		what  string
		files map[string]string
		want  string
	}{
		{"sound", map[string]string{"p.go": good}, "p.t.mu"},
		{"sound, with a file that is none of it", map[string]string{"p.go": good, "q.go": "//go:build ignore\n\npackage main\n\nfunc {"}, "p.t.mu"},
		{"sound, with a large table", map[string]string{"p.go": good + "\nvar _ = []int{" + strings.Repeat("1+2, ", many/4) + "}\n"}, "p.t.mu"},
		{"changed", map[string]string{"p.go": "// more\n" + good}, ""},
		{"none", nil, ""},
		{"empty", map[string]string{"p.go": ""}, ""},
		{"torn", map[string]string{"p.go": good[:len(good)-8]}, ""},
		{"with a neighbour that is torn", map[string]string{"p.go": good, "q.go": "package p\nfunc {"}, ""},
		{"zeros", map[string]string{"p.go": strings.Repeat("\x00", 1<<20)}, ""},
		{"of another system", map[string]string{"p.go": "//go:build plan9\n" + good[1:]}, ""},
		{"parentheses", map[string]string{"p.go": nest("(", "1", ")", many)}, ""},
		{"operators", map[string]string{"p.go": nest("-", "1", "", many)}, ""},
		{"sums", map[string]string{"p.go": nest("", "1", "+1", many)}, ""},
		{"selectors", map[string]string{"p.go": nest("", "a", ".a", many)}, ""},
		{"calls", map[string]string{"p.go": nest("", "f", "()", many)}, ""},
		{"pointers", map[string]string{"p.go": good + "\nvar x " + strings.Repeat("*", many) + "int\n"}, ""},
		{"types", map[string]string{"p.go": good + "\nvar x " + strings.Repeat("[]", many) + "int\n"}, ""},
		{"elses", map[string]string{"p.go": good + elses}, ""},
		{"blocks", map[string]string{"p.go": good + blocks}, ""},
		{"too large", map[string]string{"p.go": good + strings.Repeat("// much\n", 1<<20)}, ""},
		{"another one is too large", map[string]string{"p.go": good, "q.go": "package p\n" + strings.Repeat("// much\n", 1<<20)}, ""},
		{"types that have each other", map[string]string{"p.go": strings.Replace(good, "type t struct{ mu sync.Mutex }", "type t struct{ *u }; type u struct{ *t }", 1)}, ""},
		{"a type that is itself", map[string]string{"p.go": strings.Replace(good, "type t struct{ mu sync.Mutex }", "type t t", 1)}, ""},
		{"a type that is in itself", map[string]string{"p.go": strings.Replace(good, "type t struct{ mu sync.Mutex }", "type t struct{ t }", 1)}, ""},
		{"variables that are each other", map[string]string{"p.go": strings.Replace(good, "	x.mu.Lock()", "	a := &b; b := &a; a.Lock()", 1)}, ""},
		{"another file's lines", map[string]string{"p.go": strings.Replace(good, "func (x", "//line /etc/passwd:8\nfunc (x", 1)}, ""},
	} {
		if got := nameIn(t, c.files); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// TestNearlyTooDeep: source that nests just below the limit is read.
func TestNearlyTooDeep(t *testing.T) {
	const n = deepest - 100
	for what, text := range map[string]string{
		"parentheses": "var _ = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"operators":   "var _ = " + strings.Repeat("- ", n) + "1",
		"sums":        "var _ = 1" + strings.Repeat("+1", n/2),
		"texts":       `var _ = "a"` + strings.Repeat(`+"a"`, n/2),
		"selectors":   "var _ = a" + strings.Repeat(".a", n/2),
		"calls":       "var _ = g" + strings.Repeat("()", n/2),
		"literals":    "var _ = " + strings.Repeat("[]any{", n/4) + strings.Repeat("}", n/4),
		"functions":   "var _ = " + strings.Repeat("func() any { return ", n/6) + "1" + strings.Repeat("}", n/6),
		"pointers":    "var _ " + strings.Repeat("*", n) + "int",
		"types":       "var _ " + strings.Repeat("[]", n/2) + "int",
		"structs":     "var _ " + strings.Repeat("struct{ a ", n/4) + "int" + strings.Repeat("}", n/4),
		"elses":       "func g(x int) {\n" + strings.Repeat("if x == 0 {\n} else ", n/8) + "{\n}\n}",
	} {
		if got := nameIn(t, map[string]string{"p.go": good + "\n" + text + "\n"}); got != "p.t.mu" {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// TestManyFiles: a directory with too many files is not read.
func TestManyFiles(t *testing.T) {
	files := map[string]string{"p.go": good}
	for i := range 2_001 {
		files[fmt.Sprintf("f%d.go", i)] = "package p\n"
	}
	if got := nameIn(t, files); got != "" {
		t.Errorf("%q of %d files", got, len(files))
	}
}

// TestStrangePaths: the file of a place in a trace may be any path.
func TestStrangePaths(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "p.go"), 0o700); err != nil {
		t.Fatal(err)
	}
	list := []string{"", "/", "p", ".go", "/.go", dir, filepath.Join(dir, "p.go"), `\\somewhere\share\p.go`, "//somewhere/share/p.go", "/dev/zero", "a\x00b.go", strings.Repeat("a/", 500) + "p.go"}
	if runtime.GOOS == "linux" {
		if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.go")); err != nil {
			t.Fatal(err)
		}
		list = append(list, filepath.Join(dir, "zero.go"))
	}
	n := namer(&symbols.Sources{})
	for _, file := range list {
		if got := n.name(&trace.Place{Kind: format.LockMutex, Function: "p.(*t).f", File: file, Line: 8}); got.Name != "" {
			t.Errorf("%q: %q", file, got.Name)
		}
	}
}

// TestForgets: the memory does not grow with the number of packages.
func TestForgets(t *testing.T) {
	dir := t.TempDir()
	n := namer(&symbols.Sources{})
	for i := range mostPackages + 10 {
		d := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, filepath.Join(d, "p.go"), []byte(good))
		p := &trace.Place{Kind: format.LockMutex, Function: "p.(*t).f", File: filepath.Join(d, "p.go"), Line: 8}
		if got := n.name(p); got.Name != "p.t.mu" {
			t.Fatalf("%d: %q", i, got.Name)
		}
	}
	if len(n.packages) != 10 {
		t.Errorf("%d packages are remembered", len(n.packages))
	}
}

// TestStored: sources stored with a trace take precedence over those on this machine.
func TestStored(t *testing.T) {
	dir := t.TempDir() + "/"
	stored := map[string]string{dir + "p.go": good}
	sources := &symbols.Sources{
		Stored: func(file string) ([]byte, error) {
			if text, ok := stored[file]; ok {
				return []byte(text), nil
			}
			return nil, nil
		},
		StoredIn: func(d string) (list []string) {
			for name := range stored {
				if filepath.Dir(name)+"/" == d {
					list = append(list, name)
				}
			}
			return list
		},
	}
	name := func() string {
		return namer(sources).name(&trace.Place{Kind: format.LockMutex, Function: "p.(*t).f", File: dir + "p.go", Line: 8}).Name
	}
	if got := name(); got != "p.t.mu" {
		t.Errorf("stored: %q", got)
	}
	// This machine has another version, whose other files don't belong to it.
	for base, text := range map[string]string{"p.go": "package p\n", "q.go": "package p\n\ntype t struct{}\n"} {
		filetest.Write(t, dir+base, []byte(text))
	}
	if got := name(); got != "p.t.mu" {
		t.Errorf("stored, and another version is here: %q", got)
	}
	stored[dir+"p.go"] = strings.Replace(good, "type t struct{ mu sync.Mutex }", "", 1)
	if got := name(); got != "" {
		t.Errorf("stored without its type: %q", got)
	}
	stored[dir+"u.go"] = "package p\n\nimport \"sync\"\n\ntype t struct{ mu sync.Mutex }\n"
	if got := name(); got != "p.t.mu" {
		t.Errorf("stored with its type: %q", got)
	}
}
