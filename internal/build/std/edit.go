package std

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// edit inserts text into one function, on a line that is there.
type edit struct {
	file     string // below GOROOT/src
	function string // "lockSlow", or "Mutex.lockSlow" of a method, or "Mutex" of a type
	at       string // a text that is once in the function
	insert   string // before it
	instead  bool   // of it
	behind   bool   // it
	last     bool   // at may be there more often, and the last one is meant
	unless   string // where the function has this text, nothing is to be done
}

// apply returns the file with the edit made, or says why it can't be.
func (e *edit) apply(text []byte) (_ []byte, why string) {
	if strings.ContainsRune(e.insert, '\n') {
		return nil, "the inserted text would move lines"
	}
	f, fset, why := parsed(text)
	if why != "" {
		return nil, why
	}
	from, to := 0, 0
	for _, d := range f.Decls {
		if nameOf(d) == e.function {
			from, to = fset.Position(d.Pos()).Offset, fset.Position(d.End()).Offset
		}
	}
	if to == 0 {
		return nil, "there is no such function"
	}
	body := text[from:to]
	if e.unless != "" && bytes.Contains(body, []byte(e.unless)) {
		return text, ""
	}
	at := bytes.Index(body, []byte(e.at))
	if last := bytes.LastIndex(body, []byte(e.at)); at < 0 || last != at && !e.last {
		return nil, fmt.Sprintf("%q is there %d times", e.at, bytes.Count(body, []byte(e.at)))
	} else {
		at = from + last
	}
	end := at
	switch {
	case e.instead:
		end += len(e.at)
	case e.behind:
		at += len(e.at)
		end = at
	}
	out := append(append(bytes.Clone(text[:at]), e.insert...), text[end:]...)
	if _, _, why := parsed(out); why != "" {
		return nil, "with the hook: " + why
	}
	return out, ""
}

func parsed(text []byte) (f *ast.File, fset *token.FileSet, why string) {
	fset = token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, "it does not parse: " + err.Error()
	}
	return f, fset, ""
}

// nameOf is the name of a function that has a body, with that of its receiver's type, or of a type
// that is declared alone; else it is empty.
func nameOf(decl ast.Decl) string {
	if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.TYPE && len(g.Specs) == 1 {
		return g.Specs[0].(*ast.TypeSpec).Name.Name
	}
	d, ok := decl.(*ast.FuncDecl)
	if !ok || d.Body == nil {
		return ""
	}
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}
