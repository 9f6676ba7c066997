package std

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// edit inserts text into an existing line of one function.
type edit struct {
	file     string // path below GOROOT/src
	function string // "lockSlow", "Mutex.lockSlow" for a method, or "Mutex" for a type
	at       string // a text that occurs once in the function
	insert   string // text to insert before at
	instead  bool   // insert replaces at
	behind   bool   // insert after at
	last     bool   // at may occur more often, and the last one is meant
	unless   string // the edit is not needed if the function has this text
}

// apply returns the edited file, or the reason why the edit is not possible.
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
		return nil, fmt.Sprintf("%q occurs %d times", e.at, bytes.Count(body, []byte(e.at)))
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

// nameOf returns the name of a function with a body, with that of its receiver's type, or of
// a type that is declared alone; otherwise "".
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
