package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
)

// lineDirectives are the line directives of a file, by position.
type lineDirectives []lineDirective

// lineDirective is a comment //line name:L or //line name:L:C, or the same between /* and */.
type lineDirective struct {
	end    int    // offset after it
	nameAt int    // offset of its name
	name   string // name as written
	dir    string // text inserted before the name
	column bool
}

// findLineDirectives finds the line directives of a file. dir is prepended to relative
// names, unless it is empty.
func findLineDirectives(fset *token.FileSet, f *ast.File, dir string) (all lineDirectives) {
	for _, g := range f.Comments {
		for _, c := range g.List {
			at := fset.PositionFor(c.Pos(), false)
			text := strings.TrimSuffix(c.Text[2:], "*/")
			if c.Text[1] == '/' && at.Column != 1 || !strings.HasPrefix(text, "line ") {
				continue
			}
			text = strings.TrimRight(text[len("line "):], "\r")
			name, ok := cutNumber(text)
			if !ok {
				continue
			}
			d := lineDirective{end: at.Offset + len(c.Text), nameAt: at.Offset + len("//line "), name: name}
			if shorter, ok := cutNumber(name); ok {
				d.name, d.column = shorter, true
			}
			if dir != "" && d.name != "" && !filepath.IsAbs(d.name) {
				d.dir = dir + "/"
			}
			all = append(all, d)
		}
	}
	return all
}

// cutNumber cuts off :N at the end.
func cutNumber(s string) (string, bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i == len(s)-1 || strings.Trim(s[i+1:], "0123456789") != "" {
		return s, false
	}
	return s[:i], true
}

// last returns the directive in force at an offset.
func (l lineDirectives) last(offset int) (d lineDirective, ok bool) {
	for _, next := range l {
		if next.end > offset {
			break
		}
		d, ok = next, true
	}
	return d, ok
}

// at returns a comment after which the position is pos. If a directive of the file has left
// columns unknown, its name is repeated, to keep them so.
func (l lineDirectives) at(pos token.Position, offset int) string {
	d, ok := l.last(offset)
	if !ok || d.column {
		return fmt.Sprintf("/*line :%d:%d*/", pos.Line, pos.Column)
	}
	return fmt.Sprintf("/*line %s:%d*/", d.dir+d.name, pos.Line)
}

// repeatable reports whether at works at an offset.
func (l lineDirectives) repeatable(offset int) bool {
	d, _ := l.last(offset)
	return inComment(d.dir + d.name)
}

func inComment(s string) bool { return !strings.Contains(s, "*/") && !strings.ContainsAny(s, "\r\n") }
