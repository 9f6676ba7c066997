// Package publish rewrites the go.mod files of the repository's modules for a release. In a
// checkout they replace each other, so that all see a change in one. The go command refuses
// to install a program whose go.mod has replacements, and importers of a module ignore its
// replacements and use the required versions. So a release is a commit whose go.mod files
// require one another at the release's version, without replacements.
package publish

import (
	"fmt"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Root is the path of the top module, and the prefix of the others.
const Root = "github.com/scopeview/scopeview"

// Modules are the directories of the modules that users install or import.
var Modules = []string{".", "scope/scopegrpc", "scope/scopeotel", "scope/scopeprom", "fleet", "fleet/duckdb"}

// Tag returns the git tag by which the go command finds a version of the module in dir.
func Tag(dir, version string) string {
	if dir == "." {
		return version
	}
	return dir + "/" + version
}

// GoMod returns a go.mod file for a release of version. It returns an error if version is
// not canonical, or if the file replaces a module of another repository.
func GoMod(data []byte, version string) ([]byte, error) {
	if semver.Canonical(version) != version {
		return nil, fmt.Errorf("version %q: write it as v1.2.3", version)
	}
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range f.Replace {
		if !ours(r.Old.Path) {
			return nil, fmt.Errorf("module %s replaces %s, which is not ours: a release can't", f.Module.Mod.Path, r.Old.Path)
		}
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	for _, r := range f.Require {
		if ours(r.Mod.Path) {
			if err := f.AddRequire(r.Mod.Path, version); err != nil {
				return nil, err
			}
		}
	}
	f.Cleanup()
	return f.Format()
}

// ours reports whether a module is one of the repository's.
func ours(path string) bool { return path == Root || strings.HasPrefix(path, Root+"/") }
