package instrument_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/long"
)

// TestModules: the tests of other people's modules pass with all of their functions
// recorded, except for those that measure inlining.
func TestModules(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests three modules of others")
	}
	for _, m := range []struct {
		path, version string
		packages      []string
	}{
		// It drops four bits of the time, so one test occasionally finds it reversed.
		{"github.com/google/uuid", "v1.6.0", []string{"-skip=^TestVersion6$", "./..."}},
		{"github.com/pelletier/go-toml/v2", "v2.2.4", []string{".", "./unstable/...", "./internal/..."}},
		{"golang.org/x/mod", "v0.41.0", []string{"./modfile", "./semver", "./module", "./sumdb"}},
	} {
		t.Run(m.path, func(t *testing.T) {
			if m.path != "golang.org/x/mod" {
				long.Skip(t, "builds and tests a module of others")
			}
			dir := downloaded(t, m.path+"@"+m.version)
			file, funcs := overlay(t, dir, m.path, func(in *instrument.Input) { in.Args = true })
			recorded := 0
			for _, f := range funcs {
				if f.Why == "" {
					recorded++
				}
			}
			log := filepath.Join(t.TempDir(), "log")
			r := run(t, dir, []string{"HOOKS_LOG=" + log}, "go", append([]string{"test", "-p=1", "-overlay=" + file}, m.packages...)...)
			if r.code != 0 {
				if plain := run(t, dir, nil, "go", append([]string{"test", "-p=1"}, m.packages...)...); plain.code != 0 {
					t.Skipf("its tests fail as they are: %s%s", plain.out, plain.err)
				}
				t.Fatalf("%s%s", r.out, r.err)
			}
			sites := map[string]bool{}
			for line := range strings.Lines(string(filetest.Read(t, log))) {
				sites[strings.Split(line, "\t")[0]] = true
			}
			names(t, string(filetest.Read(t, log)), false)
			t.Logf("%d functions, %d are recorded, %d were entered", len(funcs), recorded, len(sites))
			if len(sites)*4 < recorded {
				t.Errorf("of %d recorded functions %d were entered", recorded, len(sites))
			}
		})
	}
}

// downloaded returns a copy of a module.
func downloaded(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir()
	b, err := cmd.Output()
	var at struct{ Dir string }
	if json.Unmarshal(b, &at) != nil || err != nil || at.Dir == "" {
		t.Skipf("%s can't be had: %v %s", module, err, b)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "m")
	if err := os.CopyFS(dir, os.DirFS(at.Dir)); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(p, 0o700) // files of the module cache are read-only
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
