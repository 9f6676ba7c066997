package scopeview_test

import (
	"go/ast"
	"go/token"
	"testing"
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

// TestExportedNamesAreDocumented demands a comment for every exported name, in
// one of the files that declare it for different systems. One comment serves a
// group in parentheses and a run of functions without a gap; a constant of a
// named type has that type's.
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

// receiver names a method's type; for a function it is a name that counts as
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

// speaksForItself is true of methods that every Go programmer knows, and of
// those that return what they are called.
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
