package scopeview_test

import (
	"go/ast"
	"go/parser"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// opened are the calls that open or create a file for writing, or change one by its path,
// and follow symbolic links planted there.
var opened = []string{
	"os.Create", "os.CreateTemp", "os.OpenFile", "os.WriteFile", "os.Truncate", "os.Chmod", "os.Chown", "os.Mkdir", "os.MkdirAll", "os.CopyFS",
	"ioutil.WriteFile", "ioutil.TempFile",
	"unix.Open", "unix.Openat", "unix.Openat2", "unix.Creat", "unix.Mkdir", "unix.Mkdirat", "unix.Mkfifo", "unix.Mknod", "unix.Truncate", "unix.Chmod",
	"syscall.Open", "syscall.Openat", "syscall.Creat", "syscall.Mkdir", "syscall.Mkfifo", "syscall.Mknod", "syscall.Truncate", "syscall.Chmod",
	"root.Create", "root.OpenFile", "root.WriteFile", "root.Mkdir", "root.MkdirAll",
}

// opensItself are the files that may nevertheless call them, with the reasons.
var opensItself = map[string]string{
	"internal/newfile/newfile.go":   "it is the guarded open",
	"cmd/scopeview/output.go":       "a device or a pipe that the user names by -o",
	"fleet/internal/store/store.go": "tables are for other users too: a temporary name, then a rename",
	"fleet/internal/store/s3.go":    "a temporary file for a bucket",
}

// notGuarded are directories of programs other than the tool and user programs.
var notGuarded = []string{"bench", "uitest", "examples", "internal/testing", "fleet/engines", "fleet/duckdb"}

// TestG29Source: code that runs inside a program or in the tool, nested modules included,
// opens files for writing by internal/newfile only, and creates directories with mode 0700.
func TestG29Source(t *testing.T) {
	looked, used := 0, map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		p = filepath.ToSlash(p)
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || slices.Contains(notGuarded, p)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, 0)
		if err != nil {
			return err
		}
		looked++
		ast.Inspect(f, func(n ast.Node) bool {
			// A mention of the name suffices: it may be called by a variable.
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := s.X.(*ast.Ident)
			switch {
			case !ok || !slices.Contains(opened, of.Name+"."+s.Sel.Name):
			case opensItself[p] != "":
				used[p] = true
			case !harmlessOpen(f, s):
				t.Errorf("%s: %s.%s: files are made by internal/newfile, directories with 0o700", fset.Position(n.Pos()), of.Name, s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for p := range opensItself {
		if !used[p] {
			t.Errorf("%s opens nothing: it needs no line above", p)
		}
	}
	t.Logf("G29: %d files of the recorder and the tool open files for writing in one place only", looked)
}

// harmlessOpen reports whether a use is a call that creates a directory with mode 0700, or
// opens a file only for reading.
func harmlessOpen(f *ast.File, use *ast.SelectorExpr) (ok bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		c, is := n.(*ast.CallExpr)
		if !is || c.Fun != ast.Expr(use) {
			return true
		}
		switch use.Sel.Name {
		case "Mkdir", "MkdirAll":
			last, lit := c.Args[len(c.Args)-1].(*ast.BasicLit)
			ok = lit && last.Value == "0o700"
		case "OpenFile", "Open", "Openat":
			ok = readsOnly(c)
		}
		return false
	})
	return ok
}

// readsOnly reports whether a call has the flag O_RDONLY, and none for writing.
func readsOnly(c *ast.CallExpr) bool {
	reads, writes := false, false
	for _, a := range c.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, "O_") {
				reads = reads || id.Name == "O_RDONLY"
				writes = writes || slices.Contains([]string{"O_WRONLY", "O_RDWR", "O_CREATE", "O_CREAT", "O_TRUNC", "O_APPEND"}, id.Name)
			}
			return true
		})
	}
	return reads && !writes
}
