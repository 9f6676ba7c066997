// Package newfile opens files for writing, in programs that record and in the tool: nothing
// else does (TestG29Source). A path that may have been planted, by whoever else may write its
// directory, is then neither followed nor opened in a way that waits, and a file is its user's
// alone from the start.
//
// A file of a name that is made here, or derived from another one, is new: Create, Write and
// Replace never open what is there. What an output that the user names himself may be is
// decided where the flag is (cmd/scopeview).
package newfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Create creates the file path for reading and writing, with mode 0600 whatever the umask is.
// Anything of that name, also a symbolic link, is an error that wraps fs.ErrExist.
func Create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	_ = f.Chmod(0o600) // some file systems have no modes
	return f, nil
}

// Write creates the file path as Create does, with that content. On an error there is none.
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

// Replace gives a new file with that content the name path, in one step. What had that name is
// not opened: a symbolic link is replaced, and what it leads to stays as it is. It fails where
// a directory has the name. Nothing is left of a file that can't be written.
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

// Temporary returns a name beside path that nobody can guess. It begins with path's own, unless
// that is so long that there may be no such names.
func Temporary(path string) string {
	name := strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	if base := filepath.Base(path); len(base) <= 200 {
		name = base + "." + name
	}
	return filepath.Join(filepath.Dir(path), name)
}

// Existing opens the regular file at path with a flag such as os.O_RDWR. It follows no symbolic
// link there, and does not wait for the other end of a named pipe: those are errors.
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
