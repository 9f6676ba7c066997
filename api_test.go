package scopeview_test

import (
	"flag"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// public are the packages with stable exported names, see docs/stability.md.
var public = []string{"scope", "scope/auto", "scope/containers", "scope/gotrace", "scope/hooks", "scope/scopehttp", "scope/scopepprof", "scope/scopeslog", "scope/scopesql", "scope/scopetest", "mmpool", "flusher", "sweeper", "export/html"}

var update = flag.Bool("update", false, "write testdata/api")

// TestAPI compares the exported names with testdata/api, so that adding, changing or
// removing one is a deliberate change there. -update writes the files.
func TestAPI(t *testing.T) {
	for _, pkg := range public {
		got := strings.Join(exported(t, pkg), "\n") + "\n"
		golden := filepath.Join("testdata", "api", strings.ReplaceAll(pkg, "/", "-")+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		b := filetest.Read(t, golden)
		want := strings.Split(string(b), "\n")
		for line := range strings.SplitSeq(got, "\n") {
			if i := slices.Index(want, line); i >= 0 {
				want = slices.Delete(want, i, i+1)
				continue
			}
			t.Errorf("%s: not in %s: %s", pkg, golden, line)
		}
		for _, line := range want {
			t.Errorf("%s: gone, but in %s: %s", pkg, golden, line)
		}
	}
}

// exported returns the exported declarations of a package as built for Linux on amd64,
// without bodies and comments, one per line.
func exported(t *testing.T, pkg string) (list []string) {
	for _, f := range exports(t, pkg, "") {
		for _, d := range f.Decls {
			var parts []ast.Node
			switch d := d.(type) {
			case *ast.FuncDecl:
				if !ofExported(d) {
					continue
				}
				d.Body = nil
				parts = append(parts, d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						parts = append(parts, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{s}})
					case *ast.ValueSpec:
						if len(s.Values) == 0 && d.Tok == token.CONST { // its value follows from the previous ones
							parts[len(parts)-1].(*ast.GenDecl).Lparen = 1
							parts[len(parts)-1].(*ast.GenDecl).Specs = append(parts[len(parts)-1].(*ast.GenDecl).Specs, s)
							continue
						}
						parts = append(parts, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{s}})
					}
				}
			}
			for _, p := range parts {
				var b strings.Builder
				if err := printer.Fprint(&b, token.NewFileSet(), p); err != nil {
					t.Fatal(err)
				}
				list = append(list, strings.Join(strings.Fields(b.String()), " "))
			}
		}
	}
	slices.Sort(list)
	return list
}

// ofExported reports whether a function is not a method of an unexported type.
func ofExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	name, ok := t.(*ast.Ident)
	return ok && name.IsExported()
}

// exports parses the files of a package, as built with a tag, and keeps exported
// declarations.
func exports(t *testing.T, pkg, tag string) (list []*ast.File) {
	t.Helper()
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled, ctx.BuildTags = "linux", "amd64", false, []string{tag}
	p, err := ctx.ImportDir(pkg, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if ast.FileExports(f) {
			list = append(list, f)
		}
	}
	return list
}

// TestAPIWithTags: with each tag the exported names are the same, including parameters and
// results of functions.
func TestAPIWithTags(t *testing.T) {
	names := func(pkg, tag string) (list []string) {
		for _, f := range exports(t, pkg, tag) {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if ofExported(d) {
						list = append(list, d.Name.Name+" "+shape(d.Recv)+shape(d.Type.Params)+shape(d.Type.Results))
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							list = append(list, s.Name.Name)
						case *ast.ValueSpec:
							for _, n := range s.Names {
								list = append(list, n.Name)
							}
						}
					}
				}
			}
		}
		slices.Sort(list)
		return list
	}
	for _, pkg := range []string{"scope", "scope/gotrace", "scope/scopehttp"} {
		want := names(pkg, "")
		if len(want) < 3 {
			t.Errorf("%s: only %q", pkg, want)
		}
		for _, tag := range []string{"scope_off", "scope_go", "scope_pure"} {
			if got := names(pkg, tag); !slices.Equal(got, want) {
				t.Errorf("%s with %s exports\n%q, else\n%q", pkg, tag, got, want)
			}
		}
	}
}

// shape returns the types of parameters, in a row.
func shape(list *ast.FieldList) string {
	var b strings.Builder
	for i := 0; list != nil && i < len(list.List); i++ {
		for range max(1, len(list.List[i].Names)) {
			b.WriteByte(' ')
			_ = printer.Fprint(&b, token.NewFileSet(), list.List[i].Type) // writing to a Builder cannot fail
		}
	}
	return b.String() + ";"
}

// TestAPINamesNothingInternal: programs can name all types in exported declarations. An
// alias makes an internal type available.
func TestAPINamesNothingInternal(t *testing.T) {
	for _, pkg := range public {
		for _, f := range exports(t, pkg, "") {
			internal := map[string]bool{}
			for _, i := range f.Imports {
				p, _ := strconv.Unquote(i.Path.Value)
				if name := p[strings.LastIndex(p, "/")+1:]; strings.Contains(p, "/internal/") {
					if i.Name != nil {
						name = i.Name.Name
					}
					internal[name] = true
				}
			}
			look := func(n ast.Node) {
				ast.Inspect(n, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := s.X.(*ast.Ident); ok && internal[x.Name] {
							t.Errorf("%s: %s.%s is exported with something", pkg, x.Name, s.Sel.Name)
						}
					}
					return true
				})
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if ofExported(d) {
						look(d.Type)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if s, ok := s.(*ast.TypeSpec); ok && !s.Assign.IsValid() {
							look(s.Type)
						}
					}
				}
			}
		}
	}
}
