package instrument_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// listed is a package from go list.
type listed struct {
	Dir, ImportPath, Name                        string
	GoFiles, CgoFiles, TestGoFiles, XTestGoFiles []string
}

// hooksDir is the directory of the stand-in for package hooks in a module.
const hooksDir = "scopeviewhooks"

// overlay instruments the packages of the module in dir, and returns the path of the overlay
// and the functions.
func overlay(t *testing.T, dir, module string, set func(*instrument.Input)) (string, []instrument.Func) {
	t.Helper()
	cache := t.TempDir()
	replace := map[string]string{}
	put := func(at string, text []byte) {
		t.Helper()
		to := filepath.Join(cache, strings.ReplaceAll(strings.TrimPrefix(at, dir), string(filepath.Separator), "+"))
		filetest.Write(t, to, text)
		replace[at] = to
	}
	filetest.Write(t, filepath.Join(dir, hooksDir, "hooks.go"), filetest.Read(t, "testdata/hooks/hooks.go"))
	var funcs []instrument.Func
	edit := func(p listed, in instrument.Input) {
		t.Helper()
		if len(in.Files) == 0 {
			return
		}
		in.Name, in.Hooks = p.Name, module+"/"+hooksDir
		in.Dir, in.LineDirs = p.Dir, !strings.HasPrefix(runtime.Version(), "go1.26")
		if set != nil {
			set(&in)
		}
		out, err := instrument.Package(in)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range out.Files {
			put(filepath.Join(p.Dir, name), text)
		}
		if out.Table.Text != nil {
			put(filepath.Join(p.Dir, out.Table.Name), out.Table.Text)
		}
		funcs = append(funcs, out.Funcs...)
	}
	for _, p := range list(t, dir) {
		if filepath.Base(p.Dir) == hooksDir {
			continue
		}
		files, cgo, tests, outside := load(t, p.Dir, p.GoFiles), load(t, p.Dir, p.CgoFiles), load(t, p.Dir, p.TestGoFiles), load(t, p.Dir, p.XTestGoFiles)
		edit(p, instrument.Input{ImportPath: p.ImportPath, Files: files, With: join(cgo, tests)})
		edit(p, instrument.Input{ImportPath: p.ImportPath, Files: tests, With: join(files, cgo), Tests: true})
		p.Name += "_test"
		edit(p, instrument.Input{ImportPath: p.ImportPath + "_test", Files: outside, Tests: true})
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(cache, "overlay.json")
	filetest.Write(t, at, b)
	return at, funcs
}

func list(t *testing.T, dir string) (all []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,Name,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v", dir, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func load(t *testing.T, dir string, names []string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range names {
		files[name] = filetest.Read(t, filepath.Join(dir, name))
	}
	return files
}

func join(a, b map[string][]byte) map[string][]byte {
	all := map[string][]byte{}
	for _, m := range []map[string][]byte{a, b} {
		for name, text := range m {
			all[name] = text
		}
	}
	return all
}

// ran is the output and the exit code of a command.
type ran struct {
	out, err string
	code     int
}

// run runs a command in dir, with additional environment variables.
func run(t *testing.T, dir string, env []string, name string, args ...string) ran {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{out.String(), bad.String(), cmd.ProcessState.ExitCode()}
}

// goBuild builds the program in dir, and fails the test if that fails.
func goBuild(t *testing.T, dir, to string, flags ...string) {
	t.Helper()
	r := run(t, dir, nil, "go", append(append([]string{"build", "-o", to}, flags...), ".")...)
	if r.code != 0 {
		t.Fatalf("go build %v:\n%s", flags, r.err)
	}
}

var (
	pointers = regexp.MustCompile(` \+0x[0-9a-f]+|0x[0-9a-f]+|goroutine \d+`)
	operands = regexp.MustCompile(`(?m)^([\w./*()\[\]-]+)\(.*\)$`)
)

// steady removes addresses and operands, which differ from run to run.
func steady(s string) string {
	return operands.ReplaceAllString(pointers.ReplaceAllStringFunc(s, func(s string) string {
		if s[0] == ' ' {
			return "" // an inlined call has none
		}
		return "?"
	}), "$1(…)")
}
