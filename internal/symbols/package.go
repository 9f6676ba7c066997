package symbols

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Limits of the sources of a directory. A directory that exceeds them is treated as an
// error.
const (
	mostSources   = 2_000
	largestOfThem = 4 << 20  // bytes of one
	largestOfAll  = 48 << 20 // bytes of all
)

var errManySources = errors.New("the directory has more or larger sources than are read")

// Package returns the Go files of a source file's directory by their base names, stored ones
// before those on this machine. It reads no other directory, and no other machine.
func (s *Sources) Package(file string) (map[string][]byte, error) {
	dir, base := split(file)
	if !strings.HasSuffix(base, ".go") || strings.HasPrefix(file, `\\`) || strings.HasPrefix(file, "//") {
		return nil, &NoSourceError{File: file}
	}
	b, path, err := s.ReadAll(file)
	if err != nil {
		return nil, err
	}
	p := sources{files: map[string][]byte{}}
	if s.Stored != nil && s.StoredIn != nil {
		for _, name := range s.StoredIn(dir) {
			if b, err := s.Stored(name); err == nil && b != nil {
				_, base := split(name)
				p.add(base, b)
			}
		}
	}
	p.add(base, b)
	if path != "" && s.Here == nil { // otherwise the files on this machine may be of another version, or must not be read
		if err := p.addAll(filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	return p.files, p.err
}

// sources holds the sources of a directory.
type sources struct {
	files map[string][]byte
	size  int
	err   error
}

func (p *sources) add(base string, b []byte) {
	if p.files[base] != nil || !strings.HasSuffix(base, ".go") {
		return
	}
	if p.size += len(b); len(b) > largestOfThem || p.size > largestOfAll || len(p.files) >= mostSources {
		p.err = errManySources
		return
	}
	p.files[base] = b
}

// addAll adds the files on this machine that are not stored.
func (p *sources) addAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		list, err := d.ReadDir(256)
		for _, e := range list {
			if !strings.HasSuffix(e.Name(), ".go") || p.files[e.Name()] != nil {
				continue
			}
			st, err := os.Stat(filepath.Join(dir, e.Name()))
			if err != nil || !st.Mode().IsRegular() {
				continue
			}
			if st.Size() > largestOfThem {
				return errManySources
			}
			if b, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
				p.add(e.Name(), b)
			}
		}
		if err != nil || p.err != nil {
			return p.err // or there are no more
		}
	}
}

// split splits a file's name into its directory, which keeps its slash, and its base name.
func split(file string) (dir, base string) {
	i := strings.LastIndexAny(file, `/\`) + 1
	return file[:i], file[i:]
}
