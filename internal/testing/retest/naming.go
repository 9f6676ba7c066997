package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// limit has the command run only the tests that name what the pattern matches.
func (c *command) limit(pattern string) error {
	text, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	run, err := naming(text, c.packages)
	if err == nil {
		c.flags = append(slices.Clip(c.flags), "-run="+run) // packages lie behind them
	}
	return err
}

// testFunc is a function of a package's test files.
type testFunc struct {
	names bool            // whether its text matches
	calls map[string]bool // functions and methods by name, whatever they belong to
}

// naming returns a pattern for go test -run: the tests in these directories whose text, or
// that of a function of their test files that they reach, matches. Build constraints are
// ignored: a test that a build excludes is not run either.
func naming(text *regexp.Regexp, dirs []string) (string, error) {
	var tests []string
	for _, dir := range dirs {
		found, err := testsNaming(text, dir)
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", fmt.Errorf("no test in %s names %s", dir, text)
		}
		tests = append(tests, found...)
	}
	return "^(" + strings.Join(tests, "|") + ")$", nil
}

// testsNaming is naming for one directory.
func testsNaming(text *regexp.Regexp, dir string) (tests []string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	funcs := map[string]*testFunc{}
	for _, path := range paths {
		if err := readFuncs(text, path, funcs); err != nil {
			return nil, err
		}
	}
	for again := true; again; {
		again = false
		for _, f := range funcs {
			for callee := range f.calls {
				if c := funcs[callee]; c != nil && c.names && !f.names {
					f.names, again = true, true
				}
			}
		}
	}
	for name, f := range funcs {
		if f.names && strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests, nil
}

// readFuncs adds the functions of a file. Those of one name, in files for different
// builds or methods of several types, count as one.
func readFuncs(text *regexp.Regexp, path string, funcs map[string]*testFunc) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		f := funcs[decl.Name.Name]
		if f == nil {
			f = &testFunc{calls: map[string]bool{}}
			funcs[decl.Name.Name] = f
		}
		from, to := fset.Position(decl.Pos()).Offset, fset.Position(decl.End()).Offset
		f.names = f.names || text.Match(source[from:to])
		ast.Inspect(decl, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				f.calls[id.Name] = true
			}
			return true
		})
	}
	return nil
}
