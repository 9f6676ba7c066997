package build

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// listed is a package of the build, from go list.
type listed struct {
	Dir, ImportPath, Name, ForTest   string
	GoFiles, CgoFiles                []string
	TestGoFiles, XTestGoFiles        []string
	IgnoredGoFiles                   []string
	IgnoredOtherFiles                []string
	SFiles, HFiles, CFiles, CXXFiles []string
	MFiles, FFiles                   []string
	SwigFiles, SwigCXXFiles          []string
	SysoFiles, EmbedFiles            []string
	Standard, DepOnly                bool
	Named                            bool // in the module of a package that the command line names; see maker.cached
	Module                           *listedModule
	Error                            *struct{ Err string }
}

type listedModule struct {
	Path, Version, Dir, GoMod string
	Main                      bool
	Replace                   *listedModule
}

// list returns the packages of the build from the go command.
func list(ctx context.Context, dir string, verb Verb, flags, packages []string) ([]*listed, error) {
	args := []string{"list", "-e", "-deps", "-json=Dir,ImportPath,Name,ForTest,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,IgnoredGoFiles,IgnoredOtherFiles,SFiles,HFiles,CFiles,CXXFiles,MFiles,FFiles,SwigFiles,SwigCXXFiles,SysoFiles,EmbedFiles,Standard,DepOnly,Module,Error"}
	if verb == Test {
		args = append(args, "-test")
	}
	args = append(append(append(args, flags...), "--"), packages...)
	cmd := goCommand(ctx, dir, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(errs.String()); text != "" {
			return nil, &GoError{text}
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		p := new(listed)
		if err := d.Decode(p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.ForTest == "" && !strings.HasSuffix(p.ImportPath, ".test") {
			all = append(all, p)
		}
	}
	return all, nil
}

// GoError is a message of the go command.
type GoError struct{ Text string }

func (e *GoError) Error() string { return e.Text }

// ours reports whether a package is in the main module, in one of several, or in one that is
// named.
func ours(p *listed) bool {
	return p.Named || p.Module != nil && p.Module.Main || p.Module == nil && !p.Standard
}

// matcher returns a function that selects the packages to trace by patterns like those of go
// list: ... matches any text, ./ is dir; a leading - excludes; the last match decides.
// Without a pattern it selects the main module, or modules; with only exclusions the rest of
// these.
func matcher(dir string, patterns []string) (func(p *listed) bool, error) {
	if len(patterns) == 0 {
		return ours, nil
	}
	type test struct {
		re            *regexp.Regexp
		here, exclude bool
	}
	var tests []test
	for _, text := range patterns {
		t := test{exclude: strings.HasPrefix(text, "-")}
		text = strings.TrimPrefix(text, "-")
		if text == "" {
			return nil, fmt.Errorf("--trace: an empty pattern")
		}
		var err error
		if t.re, t.here, err = pattern(text); err != nil {
			return nil, fmt.Errorf("--trace %s: %w", text, err)
		}
		tests = append(tests, t)
	}
	return func(p *listed) bool {
		in := tests[0].exclude && ours(p)
		for _, t := range tests {
			name := p.ImportPath
			if t.here {
				rel, err := filepath.Rel(dir, p.Dir)
				if err != nil {
					continue
				}
				if name = filepath.ToSlash(rel); !strings.HasPrefix(name, "..") {
					name = "./" + name
				}
			}
			if t.re.MatchString(name) {
				in = !t.exclude
			}
		}
		return in
	}, nil
}

// pattern compiles a pattern of go help packages: x/... matches x too.
func pattern(text string) (re *regexp.Regexp, here bool, err error) {
	here = text == "." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || text == ".."
	if here {
		if text = path.Clean(text); text != ".." && !strings.HasPrefix(text, "../") {
			text = "./" + text
		}
	}
	q := strings.ReplaceAll(regexp.QuoteMeta(text), `\.\.\.`, ".*")
	if strings.HasSuffix(q, "/.*") {
		q = strings.TrimSuffix(q, "/.*") + "(/.*)?"
	}
	re, err = regexp.Compile("^" + q + "$")
	return re, here, err
}
