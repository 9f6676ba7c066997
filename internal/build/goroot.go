package build

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/newfile"
)

// ownRoot creates a GOROOT of links to a toolchain in the module cache, below which the go
// command allows no replacement.
func (c Cache) ownRoot(root, version string) (string, error) {
	dir := c.path("goroot", version+"-"+hash([]byte(root)))
	return dir, c.whole(dir, func(tmp string) error {
		list, err := os.ReadDir(root)
		if err != nil {
			return err
		}
		for _, e := range list {
			if e.Name() == "src" {
				continue
			}
			if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(tmp, e.Name())); err != nil {
				return err
			}
		}
		return linkTree(filepath.Join(root, "src"), filepath.Join(tmp, "src"))
	})
}

// linkTree creates a tree with the files of another one. The go command does not embed
// symbolic links, so they are hard links, or copies on another file system.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if os.Link(path, filepath.Join(to, rel)) == nil {
			return nil
		}
		return copyFile(path, filepath.Join(to, rel))
	})
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := newfile.Create(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
