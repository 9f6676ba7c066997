//go:build !scope_off

package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/sys"
)

// traceFile is a new, empty, locked file.
type traceFile struct{ *os.File }

// descriptors is the maximum number of a recording's descriptors, including
// those of Go's poller.
const descriptors = 8

// extension is the file name extension of every trace.
const extension = ".scope"

// createTrace creates the file for path.
func createTrace(path string, overwrite bool) (*traceFile, error) {
	if err := sys.TakeDescriptors(descriptors); err != nil {
		return nil, err
	}
	st, err := os.Stat(path)
	switch {
	case path == "":
		return nil, fmt.Errorf("%w: the path is empty; give a directory or a file", ErrOption)
	case err == nil && st.IsDir():
		return createIn(path)
	case errors.Is(err, fs.ErrNotExist) && os.IsPathSeparator(path[len(path)-1]):
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		return createIn(path)
	}
	f, err := create(path)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	if !overwrite {
		return nil, fmt.Errorf("%w; give another path, or WithOverwrite for a finished trace", ErrExists)
	}
	h, file, err := finished(path)
	if err != nil {
		return nil, fmt.Errorf("%w and is not overwritten: %w", ErrExists, err)
	}
	hot.RemoveSegments(path, &h)
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	hot.Discard(h.ID, file) // what its writer left in memory if it was killed
	return create(path)
}

// createIn creates a new file in a directory. Its name ends in random digits,
// so that two containers that share the directory, each with its program as
// process 1, do not collide.
func createIn(dir string) (*traceFile, error) {
	var err error
	for range 10 {
		var f *traceFile
		if f, err = create(filepath.Join(dir, fileName(""))); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}

// fileName returns a new name, made of the program, what, the time, the process
// and random digits.
func fileName(what string) string {
	return fmt.Sprintf("%s-%s%s-%d-%08x%s", programName(), what, time.Now().UTC().Format("20060102T150405Z"), os.Getpid(), rand.Uint32(), extension)
}

func programName() string {
	exe, err := os.Executable()
	if err != nil {
		return "program"
	}
	return strings.TrimSuffix(filepath.Base(exe), ".exe")
}

func create(path string) (*traceFile, error) {
	f, err := newfile.Create(path)
	if err != nil {
		return nil, err
	}
	sys.TryLock(f) // without locks, readers can't detect whether the process lives
	return &traceFile{f}, nil
}

// finished checks that the file at path is a finished trace, and returns its
// header and its identity: a copy has the same ID.
func finished(path string) (h format.Header, file format.FileID, err error) {
	f, err := newfile.Existing(path, os.O_RDWR)
	if err != nil {
		return h, file, err
	}
	defer f.Close()
	b := make([]byte, format.StateOffset+format.StateSize)
	n, _ := f.ReadAt(b, 0)
	h, _, err = format.DecodeHeader(b[:n])
	if err != nil {
		return h, file, fmt.Errorf("it is not a trace of scopeview: %w", err)
	}
	if !sys.TryLock(f) {
		return h, file, errors.New("it is being written")
	}
	return h, hot.Identity(f), nil
}

func removeTrace(f *traceFile) {
	f.Close()
	os.Remove(f.Name())
}
