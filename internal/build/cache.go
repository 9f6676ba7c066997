package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/newfile"
)

// Cache is a directory of generated files. Each file in it is complete, and only changes by
// being replaced.
type Cache struct{ dir string }

// OpenCache returns the cache: SCOPEVIEW_CACHE, or a directory in the user's cache
// directory. It need not exist yet.
func OpenCache() (Cache, error) {
	dir := os.Getenv("SCOPEVIEW_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return Cache{}, fmt.Errorf("no directory for generated files: %w; SCOPEVIEW_CACHE can name one", err)
		}
		dir = filepath.Join(user, "scopeview")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Cache{}, err
	}
	return Cache{dir}, nil
}

// path returns the path of a file in the cache.
func (c Cache) path(parts ...string) string {
	return filepath.Join(append([]string{c.dir}, parts...)...)
}

// makeDir creates a directory of the cache, readable only by the user, as it contains edited
// source.
func (c Cache) makeDir(dir string) error {
	return os.MkdirAll(dir, 0o700)
}

// write creates a file, or replaces it, atomically.
func (c Cache) write(path string, b []byte) error {
	err := c.makeDir(filepath.Dir(path))
	if err == nil {
		err = newfile.Replace(path, b)
	}
	if err != nil {
		return fmt.Errorf("generated files can't be written: %w; SCOPEVIEW_CACHE can name another directory", err)
	}
	return nil
}

// keep stores a file by its content and the path that it replaces, and returns its path.
func (c Cache) keep(name string, b []byte) (string, error) {
	sum := hash([]byte(name), b)
	path := c.path("files", sum[:2], sum[2:], filepath.Base(name))
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, b) {
		return path, nil
	}
	return path, c.write(path, b)
}

// extentFile has the extent of its directory.
const extentFile = ".scopeview-extent"

// whole creates a directory by renaming one that fill has filled; it keeps an existing one
// that is complete.
func (c Cache) whole(dir string, fill func(dir string) error) error {
	if intact(dir) {
		return nil
	}
	err := c.makeDir(filepath.Dir(dir))
	if err == nil {
		err = rebuild(dir, fill)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("generated files can't be written: %w; SCOPEVIEW_CACHE can name another directory", err)
	}
	return err
}

func rebuild(dir string, fill func(dir string) error) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		return err
	}
	size, err := extent(tmp)
	if err != nil {
		return err
	}
	if err := newfile.Write(filepath.Join(tmp, extentFile), []byte(size)); err != nil {
		return err
	}
	err = os.Rename(tmp, dir)
	if err == nil || intact(dir) { // another process was faster
		return nil
	}
	// It is incomplete: move it out of the way.
	old := tmp + ".old"
	defer os.RemoveAll(old)
	if err := os.Rename(dir, old); err != nil && !missing(err) {
		return err
	}
	return os.Rename(tmp, dir)
}

// intact reports whether a directory has all of its original files.
func intact(dir string) bool {
	was, err := os.ReadFile(filepath.Join(dir, extentFile))
	if err != nil {
		return false
	}
	now, err := extent(dir)
	return err == nil && now == string(was)
}

// extent returns the number of files of a directory at any depth, and their size in bytes.
func extent(dir string) (string, error) {
	var files, size int64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == extentFile {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		files, size = files+1, size+st.Size()
		return nil
	})
	return fmt.Sprintf("%d files, %d bytes\n", files, size), err
}

// hash returns a name for content.
func hash(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d ", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Dir returns the cache's directory.
func (c Cache) Dir() string { return c.dir }

// keptTraces is the maximum number of traces of a program in the cache.
const keptTraces = 10

// Traces returns the default directory for traces of a program.
func (c Cache) Traces(program string) string { return c.path("traces", program) }

// PruneTraces removes the oldest traces of a directory of the cache, and the files beside
// them.
func (c Cache) PruneTraces(dir string) {
	if !within(dir, c.path("traces")) {
		return
	}
	list, err := filepath.Glob(filepath.Join(dir, "*.scope"))
	if err != nil || len(list) < keptTraces {
		return
	}
	slices.SortFunc(list, func(a, b string) int { return int(stat(a).Time - stat(b).Time) })
	for _, path := range list[:len(list)-keptTraces+1] {
		if more, err := filepath.Glob(strings.TrimSuffix(path, ".scope") + "[.]*"); err == nil {
			for _, p := range more {
				os.Remove(p)
			}
		}
	}
}
