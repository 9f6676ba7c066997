package instrument_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
)

// TestPositions: each part of an edited file has its original line and column, and nothing
// else was added. SCOPEVIEW_POSITIONS is a list of directories: then it checks all packages
// below them.
func TestPositions(t *testing.T) {
	for _, path := range []string{"go/types", "net/http", "text/template", "strconv"} {
		compareParts(t, input(t, path))
	}
	for _, root := range filepath.SplitList(os.Getenv("SCOPEVIEW_POSITIONS")) {
		packages := 0
		err := filepath.WalkDir(root, func(dir string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			p, err := build.ImportDir(dir, 0)
			if err != nil || len(p.GoFiles) == 0 {
				return nil
			}
			in := instrument.Input{ImportPath: dir, Name: p.Name, Hooks: "example.com/hooks", Files: load(t, dir, p.GoFiles), With: load(t, dir, append(p.CgoFiles, p.TestGoFiles...))}
			packages++
			compareParts(t, in)
			return nil
		})
		t.Logf("%s: %d packages, %v", root, packages, err)
	}
}

func compareParts(t *testing.T, in instrument.Input) {
	t.Helper()
	in.Args, in.Small = true, true
	out, err := instrument.Package(in)
	if err != nil {
		t.Log(err) // some packages do not parse
		return
	}
	for name, text := range out.Files {
		want, _, _ := parts(t, name, in.Files[name])
		got, enters, imports := parts(t, name, text)
		same(t, in.ImportPath+"/"+name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		sites := 0
		for _, f := range out.Funcs {
			if f.File == name && f.Why == "" {
				sites++
			}
		}
		if enters != sites || imports > 1 {
			t.Errorf("%s/%s: %d statements and %d imports for %d sites", in.ImportPath, name, enters, imports, sites)
		}
	}
}

// parts lists the parts of a file with positions, and counts the inserted ones.
func parts(t *testing.T, name string, text []byte) (list []string, enters, imports int) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.CommentGroup, *ast.Comment:
			return false
		case *ast.File: // begins at the package clause
			list = append(list, n.Name.Name)
			return true
		case *ast.GenDecl:
			if i, ok := n.Specs[0].(*ast.ImportSpec); len(n.Specs) == 1 && ok && i.Path.Value == `"example.com/hooks"` {
				imports++
				return false
			}
		case *ast.IfStmt:
			if a, ok := n.Init.(*ast.AssignStmt); ok {
				at := fset.PositionFor(a.Pos(), false).Offset
				if bytes.HasPrefix(text[at:], []byte("h := _scopeview_f[")) {
					enters++
					return false
				}
			}
		}
		list = append(list, fmt.Sprintf("%T %v %v", n, fset.Position(n.Pos()), fset.Position(n.End())))
		return true
	})
	return list, enters, imports
}
