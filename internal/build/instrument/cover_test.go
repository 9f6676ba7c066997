package instrument_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// coverTool, in the environment, makes the test's program a -toolexec, and is the directory
// of the package; coverTable is the path of its table.
const (
	coverTool  = "INSTRUMENT_TOOLEXEC"
	coverTable = "INSTRUMENT_TABLE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(coverTool); dir != "" && len(os.Args) > 1 {
		os.Exit(toolexec(dir, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// toolexec runs a tool, and edits the output of go tool cover for the package in dir. The go
// command passes cover the files themselves, whatever an overlay has: so the table is
// missing there.
func toolexec(dir string, args []string) int {
	for i, a := range args {
		if a == filepath.Join(dir, "0-scopeview.go") {
			args[i] = os.Getenv(coverTable)
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return 1
	}
	list := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-outfilelist") })
	if strings.TrimSuffix(filepath.Base(args[0]), ".exe") != "cover" || list < 0 {
		return 0
	}
	if err := editCovered(dir, args[list+1]); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

func editCovered(dir, list string) error {
	in := instrument.Input{ImportPath: "example.com/m", Name: "m", Hooks: "example.com/m/" + hooksDir, Files: map[string][]byte{}, Covered: map[string][]byte{}, Small: true}
	b, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	at := map[string]string{}
	for _, path := range strings.Fields(string(b))[1:] { // the first has cover's variables
		name := strings.TrimSuffix(filepath.Base(path), ".cover.go") + ".go"
		if in.Covered[name], err = os.ReadFile(path); err != nil {
			return err
		}
		if in.Files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			delete(in.Covered, name)
			delete(in.Files, name)
			continue // the table
		}
		at[name] = path
	}
	out, err := instrument.Package(in)
	if err != nil {
		return err
	}
	for name, text := range out.Files {
		if err := os.WriteFile(at[name], text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// TestCoverage: the output of go tool cover is edited. The profile is that of the unedited
// program, and its functions are recorded.
func TestCoverage(t *testing.T) {
	dir := module(t, map[string]string{
		"a.go": `package m

import "errors"

// Half halves.
func Half(n int) (int, error) {
	if n%2 != 0 { return 0, errors.New("odd") }
	f := func(i int) int { if i < 0 { return -1 }; return i / 2 }
	switch {
	case n > 100:
		return f(n), nil
	default:
		return f(n), nil
	}
}

// Crash panics.
func Crash(n int) { var s []int; if n > 0 { s[n] = 1 } }
`,
		"b.go": "package m\n\n// Never is not called.\nfunc Never() int { return 1 }\n",
		"a_test.go": `package m

import "testing"

func TestHalf(t *testing.T) {
	if n, err := Half(4); n != 2 || err != nil { t.Fatal(n, err) }
	if _, err := Half(3); err == nil { t.Fatal() }
	defer func() { recover() }()
	Crash(1)
}
`,
	})
	filetest.Write(t, filepath.Join(dir, hooksDir, "hooks.go"), filetest.Read(t, "testdata/hooks/hooks.go"))
	files := load(t, dir, []string{"a.go", "b.go"})
	out, err := instrument.Package(instrument.Input{ImportPath: "example.com/m", Name: "m", Hooks: "example.com/m/" + hooksDir, Files: files, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	table := filepath.Join(tmp, out.Table.Name)
	filetest.Write(t, table, out.Table.Text)
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(dir, out.Table.Name): table}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(tmp, "overlay.json")
	filetest.Write(t, overlay, b)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"set", "count", "atomic"} {
		plain, edited, log := filepath.Join(tmp, "plain"), filepath.Join(tmp, "edited"), filepath.Join(tmp, "log"+mode)
		want := run(t, dir, nil, "go", "test", "-count=1", "-covermode="+mode, "-coverprofile="+plain, ".")
		got := run(t, dir, []string{coverTool + "=" + dir, coverTable + "=" + table, "HOOKS_LOG=" + log}, "go", "test", "-count=1", "-covermode="+mode, "-coverprofile="+edited, "-overlay="+overlay, "-toolexec="+self, ".")
		if want.code != 0 || got.code != 0 {
			t.Fatalf("%s %s\n%s %s", want.out, want.err, got.out, got.err)
		}
		same(t, "the profile, mode "+mode, string(filetest.Read(t, edited)), string(filetest.Read(t, plain)))
		for _, site := range []string{"m.Half\t", "m.Half.func1\t", "m.Crash\t"} {
			if !strings.Contains(string(filetest.Read(t, log)), site) {
				t.Errorf("mode %s: no record of %s:\n%s", mode, site, filetest.Read(t, log))
			}
		}
	}
}
