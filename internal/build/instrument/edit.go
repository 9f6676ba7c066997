package instrument

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// edit has the insertions into one file.
type edit struct {
	p       *pkg
	name    string
	source  []byte
	ast     *ast.File
	fset    *token.FileSet
	bodies  map[ast.Node]*ast.BlockStmt // function bodies in the text of go tool cover, by the original's functions
	lines   lineDirectives
	inserts []insert
	imports bool // the file needs an import of package hooks
}

type insert struct {
	at   int
	text string
}

func newEdit(p *pkg, f *file) (*edit, error) {
	e := &edit{p: p, name: f.name, source: f.text, ast: f.ast, fset: p.fset}
	if covered, ok := p.Covered[f.name]; ok {
		if err := e.cover(f, covered); err != nil {
			return nil, err
		}
	}
	dir := ""
	if p.LineDirs {
		dir = p.Dir
	}
	e.lines = findLineDirectives(e.fset, e.ast, dir)
	return e, nil
}

// cover switches to the text that go tool cover made of the file, which has the same
// functions in the same order.
func (e *edit) cover(f *file, text []byte) (err error) {
	e.source, e.fset, e.bodies = text, token.NewFileSet(), map[ast.Node]*ast.BlockStmt{}
	e.ast, err = parser.ParseFile(e.fset, f.name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	covered := new(names).sites(e.ast)
	if len(covered) != len(f.sites) {
		return fmt.Errorf("%s has %d functions, but %d in its coverage text; build without -cover", f.name, len(f.sites), len(covered))
	}
	for i, s := range f.sites {
		e.bodies[s.node] = covered[i].body
	}
	return nil
}

// brace returns the position of a function's opening brace in the text to edit.
func (e *edit) brace(s *site) token.Pos {
	if e.bodies != nil {
		return e.bodies[s.node].Lbrace
	}
	return s.body.Lbrace
}

func (e *edit) offset(s *site) int { return e.fset.PositionFor(e.brace(s), false).Offset }

// enter inserts the statement that records function s, as the site with that number.
func (e *edit) enter(s *site, number int) {
	call := "Enter()"
	if e.p.Args {
		if args := e.p.params(s); len(args) > 0 {
			e.imports = true
			for i, a := range args {
				args[i] = fmt.Sprintf("%s.KV(%q, %s)", e.p.prefix, a, a)
			}
			call = "EnterArgs(" + strings.Join(args, ", ") + ")"
		}
	}
	e.insert(e.brace(s)+1, fmt.Sprintf(" if h := %s[%d].%s; h.Loc != 0 { defer h.End() };", e.p.tableVar(), number, call), "\n")
}

// insert adds text at a position. If code follows on the line, a line directive after the
// text restores its position; the directive is on a line of its own, because the compiler
// does not count columns above 255.
func (e *edit) insert(pos token.Pos, text, between string) {
	at := e.fset.PositionFor(pos, false).Offset
	rest, _, _ := bytes.Cut(e.source[at:], []byte("\n"))
	if rest = bytes.TrimSpace(rest); len(rest) > 0 && !bytes.HasPrefix(rest, []byte("//")) {
		text += between + e.lines.at(e.fset.Position(pos), at)
	}
	e.inserts = append(e.inserts, insert{at, text})
}

// own adds a line directive with the file's name, from the package clause on. Before that it
// would hide build constraints. Texts of cover, and files with a directive there, have one.
// A path that can't be in a comment is left out.
func (e *edit) own() {
	at := e.fset.PositionFor(e.ast.Package, false)
	path := filepath.Join(e.p.Dir, e.name)
	if _, named := e.lines.last(at.Offset); e.p.Dir == "" || named || !inComment(path) {
		return
	}
	e.inserts = append(e.inserts, insert{at.Offset, fmt.Sprintf("/*line %s:%d:%d*/", path, at.Line, at.Column)})
}

// text returns the edited text, or nil if there are no edits.
func (e *edit) text() []byte {
	if len(e.inserts) == 0 {
		return nil
	}
	if e.imports {
		e.insert(e.ast.Name.End(), fmt.Sprintf("; import %s %q", e.p.prefix, e.p.Hooks), "")
	}
	e.own()
	for _, d := range e.lines {
		if d.dir != "" {
			e.inserts = append(e.inserts, insert{d.nameAt, d.dir})
		}
	}
	slices.SortStableFunc(e.inserts, func(a, b insert) int { return a.at - b.at })
	size := len(e.source)
	for _, i := range e.inserts {
		size += len(i.text)
	}
	out, last := make([]byte, 0, size), 0
	for _, i := range e.inserts {
		out = append(append(out, e.source[last:i.at]...), i.text...)
		last = i.at
	}
	return append(out, e.source[last:]...)
}
