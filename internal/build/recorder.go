package build

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/scopeview/scopeview"
	"github.com/scopeview/scopeview/internal/newfile"
)

// Module is the recorder's module path, and Hooks its package that generated code imports.
const (
	Module = "github.com/scopeview/scopeview"
	Hooks  = Module + "/scope/hooks"
)

// others are the packages of other modules that the recorder needs, by module and directory,
// with the needed files; nil means all.
//
// procfs is used to find a process's cgroups. Its other files import net: each program would
// be half a megabyte larger, link libc where cgo is on, and hang when all goroutines are
// blocked. Or they compile regular expressions, which costs a quarter of a millisecond at
// each program's start and 50 kB of its heap.
var others = map[string]map[string][]string{
	"golang.org/x/sys":          {"unix": nil, "windows": nil},
	"github.com/edsrzf/mmap-go": {".": nil},
	"github.com/prometheus/procfs": {
		".": {
			"fs.go", "fs_statfs_notype.go", "fs_statfs_type.go", "mountinfo.go", "proc.go", "proc_cgroup.go",
		},
		"internal/fs": nil, "internal/parsers": nil,
	},
}

// unused are methods that need files which are not in others.
var unused = map[string][]string{"github.com/prometheus/procfs/proc.go": {"FileDescriptorsInfo", "MountStats", "Schedstat"}}

// theirs is the directory of these packages in the recorder.
const theirs = "internal/theirs"

// language is the Go version of the recorder's files.
const language = "go1.26"

// recorder creates the recorder's module in the cache, and returns its directory.
func (c Cache) recorder(command *exec.Cmd) (string, error) {
	files, err := sourceFiles()
	if err != nil {
		return "", err
	}
	parts := [][]byte{fmt.Append(nil, others, unused)} // maps are printed in order
	for _, name := range sortedKeys(files) {
		parts = append(parts, []byte(name), files[name])
	}
	dir := c.path("recorder", hash(parts...))
	return dir, c.whole(dir, func(tmp string) error {
		from, err := download(command, files)
		if err != nil {
			return err
		}
		return writeRecorder(tmp, files, from)
	})
}

// sourceFiles returns the files from this repository, by path, without tests.
func sourceFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(scopeview.Source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files[name], err = scopeview.Source.ReadFile(name)
		return err
	})
	return files, err
}

// download lets the go command find the modules that the recorder needs: in its cache, or at
// the proxy. Their checksums are those of the tool's go.sum. It returns their directories.
func download(command *exec.Cmd, files map[string][]byte) (map[string]string, error) {
	mod, err := modfile.Parse("go.mod", files["go.mod"], nil)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := newfile.Write(filepath.Join(tmp, name), files[name]); err != nil {
			return nil, err
		}
	}
	args := []string{"mod", "download", "-json"}
	for _, r := range mod.Require {
		if others[r.Mod.Path] != nil {
			args = append(args, r.Mod.Path+"@"+r.Mod.Version)
		}
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(command.Path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = tmp, &out, &errs
	cmd.Env = append(slices.Clone(command.Env), "GOWORK=off", "GOFLAGS=-mod=mod")
	failed := cmd.Run()
	dirs := map[string]string{}
	for d := json.NewDecoder(&out); d.More(); {
		var m struct{ Path, Dir, Error string }
		if err := d.Decode(&m); err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		if m.Error != "" {
			return nil, fmt.Errorf("the recorder needs the module %s, which can't be downloaded: %s", m.Path, m.Error)
		}
		dirs[m.Path] = m.Dir
	}
	if failed != nil {
		return nil, fmt.Errorf("the recorder needs modules that can't be downloaded: go mod download: %w: %s", failed, bytes.TrimSpace(errs.Bytes()))
	}
	return dirs, nil
}

// writeRecorder writes the module to dir.
func writeRecorder(dir string, files map[string][]byte, from map[string]string) error {
	put := func(name string, b []byte) error {
		if strings.HasSuffix(name, ".go") {
			var err error
			if b, err = adapt(name, b); err != nil {
				return err
			}
		}
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		return newfile.Write(name, b)
	}
	if err := put("go.mod", []byte("module "+Module+"\n")); err != nil {
		return err
	}
	for name, b := range files {
		if name == "go.mod" || name == "go.sum" {
			continue
		}
		if err := put(name, b); err != nil {
			return err
		}
	}
	for module, packages := range others {
		for p, chosen := range packages {
			list, err := os.ReadDir(filepath.Join(from[module], filepath.FromSlash(p)))
			if err != nil {
				return err
			}
			for _, e := range list {
				name := e.Name()
				if e.IsDir() || strings.HasSuffix(name, "_test.go") || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".s") {
					continue
				}
				if chosen != nil && !slices.Contains(chosen, name) {
					continue
				}
				b, err := os.ReadFile(filepath.Join(from[module], filepath.FromSlash(p), name))
				if err != nil {
					return err
				}
				name = path.Join(module, p, name)
				if b, err = withoutMethods(b, unused[name]); err != nil {
					return err
				}
				if err := put(path.Join(theirs, name), b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// withoutMethods removes methods from a file.
func withoutMethods(b []byte, methods []string) ([]byte, error) {
	if methods == nil {
		return b, nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", b, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(f.Decls) {
		if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && slices.Contains(methods, m.Name.Name) {
			b = slices.Delete(b, fset.Position(m.Pos()).Offset, fset.Position(m.End()).Offset)
		}
	}
	return b, nil
}

// goBuild matches a build constraint.
var goBuild = regexp.MustCompile(`(?m)^//go:build .*$`)

// adapt rewrites a file's imports of other modules to the recorder's copies, and adds a
// build constraint for its Go version.
func adapt(name string, b []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, b, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var out []byte
	last := 0
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		for module := range others {
			if p == module || strings.HasPrefix(p, module+"/") {
				at := fset.Position(i.Path.Pos()).Offset
				out = append(out, b[last:at]...)
				out = append(out, strconv.Quote(Module+"/"+theirs+"/"+p)...)
				last = at + len(i.Path.Value)
			}
		}
	}
	out = append(out, b[last:]...)
	head := fset.Position(f.Package).Offset
	at := goBuild.FindIndex(out[:head])
	if at == nil {
		return append([]byte("//go:build "+language+"\n\n"), out...), nil
	}
	x, err := constraint.Parse(string(out[at[0]:at[1]]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	line := "//go:build " + (&constraint.AndExpr{X: x, Y: &constraint.TagExpr{Tag: language}}).String()
	return slices.Replace(out, at[0], at[1], []byte(line)...), nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
