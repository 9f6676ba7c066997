package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/goscopes"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/show"
)

// converted converts a file of another kind, such as a Go execution trace, to a trace, and returns
// its path; other files, and with source those that have samples, it returns as they are. name is the
// name for messages.
func (d *downloads) converted(ctx context.Context, s *streams, arg, name string, source bool) (string, error) {
	st, err := os.Stat(arg)
	if err != nil || !st.Mode().IsRegular() {
		return arg, nil // opening it reports the error
	}
	f, err := os.Open(arg)
	if err != nil {
		return arg, nil
	}
	defer f.Close()
	head := make([]byte, format.StateOffset)
	n, _ := f.ReadAt(head, 0)
	kind := kindOf(head[:n])
	if kind == nil || kind.convert == nil || source && kind.samples != nil {
		return arg, nil
	}
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the converted trace: %w", err)
	}
	d.dirs = append(d.dirs, dir)
	path := filepath.Join(dir, filepath.Base(arg))
	to, err := newfile.Create(path)
	if err != nil {
		return "", fmt.Errorf("making a file for the converted trace: %w", err)
	}
	in := &incoming{all: st.Size()}
	p := &arrival{s: s, in: in, begin: time.Now(), next: time.Now().Add(progressAfter)}
	err = kind.convert(ctx, to, untilDoneReader{ctx, f}, goscopes.Options{
		Name: filepath.Base(name), Written: st.ModTime(), Progress: func(n int64) { in.got.Store(n); p.show() },
	})
	p.done()
	if e := to.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", show.Name(name), err)
	}
	s.setName(path, name)
	return path, nil
}

// setName records the name under which the user knows a temporary file.
func (s *streams) setName(path, given string) {
	if s.names == nil {
		s.names = map[string]string{}
	}
	s.names[path] = given
}

// nameOf returns the name under which the user knows a file.
func (s *streams) nameOf(path string) string {
	if name, ok := s.names[path]; ok {
		return name
	}
	return path
}
