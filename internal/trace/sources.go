package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// Limits of a source that came with a trace, which may be from a stranger: a gigabyte of empty
// lines takes little room in it.
const (
	largestSource = 16 << 20
	mostLines     = 1 << 20
)

// StoredSources are the sources stored with a trace. Of several with one name the first complete
// one is used.
type StoredSources struct {
	of map[string]*File
}

// SourcesOf returns the sources stored with t.
func SourcesOf(t *Trace) StoredSources {
	s := StoredSources{map[string]*File{}}
	for _, f := range t.Files() {
		if f.Kind != format.FileSource {
			continue
		}
		if old := s.of[f.Name]; old == nil || old.Missing {
			s.of[f.Name] = &f
		}
	}
	return s
}

// Read reads a source by the compiler's name for it; nil: it is not stored.
func (s StoredSources) Read(file string) ([]byte, error) {
	f := s.of[file]
	if f == nil {
		return nil, nil
	}
	if f.Size > largestSource {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are read", f.Size, largestSource)
	}
	b := make([]byte, f.Size)
	if _, err := f.Reader().ReadAt(b, 0); err != nil {
		return nil, err
	}
	if n := bytes.Count(b, []byte("\n")); n > mostLines {
		return nil, fmt.Errorf("it has %d lines, and at most %d are read", n, mostLines)
	}
	return b, nil
}

// In lists the sources of a directory, which ends in a slash or is "".
func (s StoredSources) In(dir string) (list []string) {
	for name := range s.of {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.ContainsAny(rest, `/\`) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
