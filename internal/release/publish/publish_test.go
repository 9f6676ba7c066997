package publish

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

const top, version = "../../..", "v0.1.0"

// TestGoMods: no module of a release replaces anything, and all require each other at one
// version, and only released modules.
func TestGoMods(t *testing.T) {
	for _, dir := range Modules {
		data, err := GoMod(filetest.Read(t, filepath.Join(top, dir, "go.mod")), version)
		if err != nil {
			t.Fatal(err)
		}
		f, err := modfile.Parse(dir, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Replace)+len(f.Exclude) > 0 {
			t.Errorf("%s replaces or excludes modules", dir)
		}
		for _, r := range f.Require {
			released := slices.ContainsFunc(Modules, func(m string) bool { return filepath.Join(Root, m) == r.Mod.Path })
			if ours(r.Mod.Path) && (r.Mod.Version != version || !released) {
				t.Errorf("%s requires %s, released: %t", dir, r.Mod, released)
			}
		}
	}
}

// TestGoModRefuses: what a release must not contain is an error.
func TestGoModRefuses(t *testing.T) {
	const own = "module " + Root + "/x\n"
	for _, bad := range []struct{ data, version string }{
		{own + "replace example.com/y => ../y\n", version}, {own, "0.1.0"}, {own, "v1"}, {"no", version},
	} {
		if out, err := GoMod([]byte(bad.data), bad.version); err == nil {
			t.Errorf("%q at %s became %q", bad.data, bad.version, out)
		}
	}
}

// TestModules: each module of the repository is released, or is one for development; the
// modules that the documents and the tool install are released.
func TestModules(t *testing.T) {
	own := []string{"bench", "uitest", "examples/doctor/real", "fleet/engines", "fleet/engines/jaeger", "internal/testing/lint", "internal/export/perfetto/schematest"}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "testdata" || d.Name() == ".git" {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if d.Name() == "go.mod" {
			dir, _ := filepath.Rel(top, filepath.Dir(path))
			if dir = filepath.ToSlash(dir); slices.Contains(Modules, dir) == slices.Contains(own, dir) {
				t.Errorf("%s: say whether it is released", dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTags: a nested module's tag has its directory before the version.
func TestTags(t *testing.T) {
	if got := Tag(".", version) + " " + Tag("fleet", version); got != "v0.1.0 fleet/v0.1.0" {
		t.Errorf("the tags are %s", got)
	}
	if strings.Contains(Tag("scope/scopegrpc", version), "\\") {
		t.Error("a tag has a backslash")
	}
}
