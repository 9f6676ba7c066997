package scopeview_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

func TestEachPackageHasOneComment(t *testing.T) {
	docs := make(map[string][]string)
	for _, s := range sources(t) {
		if _, ok := docs[s.pkg]; !ok {
			docs[s.pkg] = nil
		}
		if s.file.Doc != nil {
			docs[s.pkg] = append(docs[s.pkg], s.path)
		}
	}
	for pkg, files := range docs {
		if len(files) != 1 {
			t.Errorf("package %s has a package comment in %d files, want one: %v", pkg, len(files), files)
		}
	}
}

// TestExportedNamesAreDocumented requires a comment for every exported name, in one of the
// files that declare it for different systems. One comment suffices for a group in
// parentheses and a run of functions without a gap; a constant of a named type has that
// type's.
func TestExportedNamesAreDocumented(t *testing.T) {
	documented := make(map[string]bool) // package and name
	declared := make(map[string]token.Position)
	for _, s := range sources(t) {
		if s.file.Name.Name == "main" {
			continue
		}
		note := func(name string, pos token.Pos, doc bool) {
			name = s.pkg + "." + name
			declared[name] = fset.Position(pos)
			documented[name] = documented[name] || doc
		}
		runEnds := -1 // the last line of a documented run of functions
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				doc := d.Doc != nil || fset.Position(d.Pos()).Line == runEnds+1
				if doc {
					runEnds = fset.Position(d.End()).Line
				}
				if recv := receiver(d); d.Name.IsExported() && ast.IsExported(recv) {
					note(recv+"."+d.Name.Name, d.Pos(), doc || speaksForItself(d))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					names, doc := namesOf(spec)
					for _, n := range names {
						if n.IsExported() {
							note(n.Name, n.Pos(), doc || d.Doc != nil)
						}
					}
				}
			}
		}
	}
	for name, pos := range declared {
		if !documented[name] {
			t.Errorf("%s: %s has no comment", pos, name)
		}
	}
}

// receiver returns the name of a method's type; for a function a name that counts as
// exported.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return "Func"
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// speaksForItself reports whether a method is well known, or returns what its name says.
func speaksForItself(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return false
	}
	switch d.Name.Name {
	case "String", "Error", "Unwrap", "Write", "Len", "Less", "Swap":
		return true
	}
	if r := d.Type.Results; r != nil && len(r.List) == 1 {
		if sel, ok := r.List[0].Type.(*ast.SelectorExpr); ok {
			return sel.Sel.Name == d.Name.Name
		}
	}
	return false
}

func namesOf(spec ast.Spec) (names []*ast.Ident, doc bool) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}, s.Doc != nil || s.Comment != nil
	case *ast.ValueSpec:
		return s.Names, s.Doc != nil || s.Comment != nil || s.Type != nil
	}
	return nil, false
}

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	mdFenced  = regexp.MustCompile("(?ms)^```.*?^```")
	mdNoID    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksResolve: the links of all documents within the module lead to existing files and
// headings.
func TestLinksResolve(t *testing.T) {
	anchors := make(map[string]map[string]bool) // by file, as GitHub makes them of headings
	links := 0
	for _, p := range files(t, ".md") {
		text := string(mdFenced.ReplaceAll(read(t, p), nil))
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			to, anchor, _ := strings.Cut(m[1], "#")
			to = path.Join(path.Dir(p), to)
			if strings.HasPrefix(m[1], "#") {
				to = p
			}
			if _, err := os.Stat(filepath.FromSlash(to)); err != nil {
				t.Errorf("%s links to %s: %v", p, m[1], err)
			} else if anchor != "" {
				if anchors[to] == nil {
					anchors[to] = headings(string(read(t, to)))
				}
				if !anchors[to][anchor] {
					t.Errorf("%s links to %s, and %s has no such heading", p, m[1], to)
				}
			}
		}
	}
	if links < 50 {
		t.Errorf("there are %d links", links)
	}
}

func headings(text string) map[string]bool {
	ids := make(map[string]bool)
	for _, m := range mdHeading.FindAllStringSubmatch(mdFenced.ReplaceAllString(text, ""), -1) {
		id := mdNoID.ReplaceAllString(strings.ToLower(m[1]), "")
		ids[strings.ReplaceAll(id, " ", "-")] = true
	}
	return ids
}

func read(t *testing.T, p string) []byte {
	t.Helper()
	return filetest.Read(t, filepath.FromSlash(p))
}
