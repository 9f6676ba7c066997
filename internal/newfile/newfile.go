// Package newfile opens files for writing, in programs that record and in the tool, which open
// files for writing in no other way (TestG29Source). A file that another user with access to
// the directory may have planted is neither followed nor opened in a way that blocks, and a new
// file is readable and writable only by its user from the start.
//
// A file whose name is generated, or derived from another one, is new: Create, Write and
// Replace never open an existing file. For outputs that the user names, cmd/scopeview decides
// at the flag what they may be.
package newfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Create creates the file path for reading and writing, with mode 0600 regardless of the umask.
// If the name exists, also as a symbolic link, the error wraps fs.ErrExist.
func Create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	_ = f.Chmod(0o600) // some file systems have no modes
	return f, nil
}

// Write creates the file path as Create does, with the given content. After an error the file
// does not exist.
func Write(path string, b []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	_, err = WriteAt(f, b, 0)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// Replace creates a file with the given content and gives it the name path, atomically. An
// existing file of that name is not opened: a symbolic link is replaced, and its target is
// unchanged. Replace fails if path is a directory. If the file can't be written, nothing of it
// is left.
func Replace(path string, b []byte) error {
	temp := Temporary(path)
	err := Write(temp, b)
	if err == nil {
		if err = os.Rename(temp, path); err != nil {
			os.Remove(temp)
		}
	}
	return err
}

// Temporary returns an unpredictable name in the directory of path. It begins with path's base
// name, unless the result could be too long.
func Temporary(path string) string {
	name := strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	if base := filepath.Base(path); len(base) <= 200 {
		name = base + "." + name
	}
	return filepath.Join(filepath.Dir(path), name)
}

// Existing opens the regular file at path with a flag such as os.O_RDWR. It returns an error
// for a symbolic link, and for a named pipe, without waiting for its other end.
func Existing(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag&^(os.O_CREATE|os.O_TRUNC)|noFollow|noWait, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var errNotRegular = errors.New("it is not a regular file")
