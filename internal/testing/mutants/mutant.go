//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change to one file: the text between two offsets is replaced.
type mutant struct {
	pkg, path string
	at        token.Position
	old, new  string
}

func (m mutant) String() string {
	old := strings.Join(strings.Fields(m.old), " ")
	return fmt.Sprintf("%v: %.60q -> %.60q", m.at, old, m.new)
}

// choose returns n mutants, as many of each package.
func choose(n int, seed uint64) (chosen []mutant, err error) {
	random := rand.New(rand.NewPCG(seed, 0))
	each := map[string][]mutant{}
	for _, pkg := range packages {
		if each[pkg], err = mutantsOf(pkg); err != nil {
			return nil, err
		}
		random.Shuffle(len(each[pkg]), func(i, j int) { each[pkg][i], each[pkg][j] = each[pkg][j], each[pkg][i] })
	}
	for i := range n {
		all := each[packages[i%len(packages)]]
		if k := i / len(packages); k < len(all) {
			chosen = append(chosen, all[k])
		}
	}
	return chosen, nil
}

// mutantsOf returns all mutants of a package's files for linux on amd64, the Go path's too.
func mutantsOf(pkg string) (all []mutant, err error) {
	paths, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "_test.go") })
	plain := build.Default
	plain.GOOS, plain.GOARCH = "linux", "amd64"
	goPath := plain
	goPath.BuildTags = []string{"scope_go"}
	for _, path := range paths {
		dir, name := filepath.Split(path)
		inPlain, err := plain.MatchFile(dir, name)
		inGoPath, err2 := goPath.MatchFile(dir, name)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		if inPlain || inGoPath {
			found, err := mutantsIn(pkg, path)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.INC: token.DEC, token.DEC: token.INC,
}

// mutantsIn returns the mutants of a file: an operator swapped, a constant off by one or zero,
// a statement dropped, a condition negated, the body of an if dropped.
func mutantsIn(pkg, path string) (all []mutant, err error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	text := func(n ast.Node) string {
		return string(source[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
	}
	add := func(at token.Pos, old, new string) {
		all = append(all, mutant{pkg, path, fset.Position(at), old, new})
	}
	swap := func(at token.Pos, op token.Token) {
		if other, ok := swapped[op]; ok {
			add(at, op.String(), other.String())
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			swap(n.OpPos, n.Op)
		case *ast.IncDecStmt:
			swap(n.TokPos, n.Tok)
			add(n.Pos(), text(n), "")
		case *ast.BasicLit:
			if v, err := strconv.ParseUint(n.Value, 0, 32); err == nil && n.Kind == token.INT {
				add(n.Pos(), n.Value, strconv.FormatUint(v+1, 10))
				if v != 0 {
					add(n.Pos(), n.Value, "0")
				}
			}
		case *ast.ExprStmt:
			add(n.Pos(), text(n), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Pos(), text(n), "")
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), text(n.Cond), "!("+text(n.Cond)+")")
			add(n.Body.Pos(), text(n.Body), "{}")
		}
		return true
	})
	return all, nil
}

// overlaps reports whether the two change the same text.
func (m mutant) overlaps(o mutant) bool {
	return m.path == o.path && m.at.Offset < o.at.Offset+len(o.old) && o.at.Offset < m.at.Offset+len(m.old)
}

// plant writes the files of mutants that do not overlap, and an overlay for the go command, into
// dir, and returns the overlay's path.
func plant(dir string, group []mutant) (string, error) {
	texts := map[string]string{}
	group = slices.Clone(group)
	slices.SortFunc(group, func(a, b mutant) int { return b.at.Offset - a.at.Offset }) // the last first: offsets before it hold
	for _, m := range group {
		if _, ok := texts[m.path]; !ok {
			source, err := os.ReadFile(m.path)
			if err != nil {
				return "", err
			}
			texts[m.path] = string(source)
		}
		text := texts[m.path]
		texts[m.path] = text[:m.at.Offset] + m.new + text[m.at.Offset+len(m.old):]
	}
	replace := map[string]string{}
	for path, text := range texts {
		original, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(replace[original], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}
