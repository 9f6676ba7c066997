package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// modFile returns go.mod with the recorder, and with the copies of modules to edit, by path.
// path is the file's path, which need not exist. The result is nil if the main module is the
// recorder's.
func modFile(path string, read func(string) ([]byte, error), recorder string, copies map[string]string) ([]byte, error) {
	b, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Files outside of a module are compiled for the newest Go.
		b = []byte("module command-line-arguments\n\ngo " + strings.TrimPrefix(language, "go") + "\n")
	} else if err != nil {
		return nil, err
	}
	f, err := modfile.Parse(path, b, nil)
	if err != nil {
		return nil, err
	}
	if f.Module != nil && f.Module.Mod.Path == Module {
		return nil, nil
	}
	if copies == nil {
		copies = map[string]string{}
	}
	copies[Module] = recorder
	if err := f.AddRequire(Module, "v0.0.0"); err != nil {
		return nil, err
	}
	// Any version is replaced, including for indirect requirements; replacements that go.mod
	// already has are not.
	for _, r := range f.Replace {
		if copies[r.Old.Path] != "" {
			if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range sortedKeys(copies) {
		if err := f.AddReplace(m, "", copies[m], ""); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}

// workModules returns the go.mod files of a workspace.
func workModules(work string) ([]string, error) {
	b, err := os.ReadFile(work)
	if err != nil {
		return nil, err
	}
	f, err := modfile.ParseWork(work, b, nil)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, u := range f.Use {
		dir := filepath.FromSlash(u.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(work), dir)
		}
		list = append(list, filepath.Join(dir, "go.mod"))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: the workspace has no modules", work)
	}
	return list, nil
}

// vendored reports whether the go command would use a vendor directory.
func vendored(e *environment, l *Line) bool {
	if mod := l.Value("mod"); mod != "" {
		return mod == "vendor"
	}
	st, err := os.Stat(e.vendor())
	return err == nil && st.IsDir()
}

// vendor returns the path of a possible vendor directory, of the module or of the workspace.
func (e *environment) vendor() string {
	root := e.GOMOD
	if e.GOWORK != "" && e.GOWORK != "off" {
		root = e.GOWORK
	}
	return filepath.Join(filepath.Dir(root), "vendor")
}
