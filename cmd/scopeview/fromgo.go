package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/goscopes"
	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/show"
)

// readsGoTraces is the annotation of a command that reads Go execution traces itself: it lists the
// values of --view with which it does, or is always.
const readsGoTraces = "gotrace"

// always is the value of readsGoTraces of a command that always does.
const always = "always"

// ofGoTrace converts the Go execution trace that TRACE names, if it is one, to a trace, and returns
// its path for the command. So every command that takes a TRACE accepts one. name is the name for
// messages.
func (d *downloads) ofGoTrace(cmd *cobra.Command, s *streams, arg, name string) (string, error) {
	switch views := cmd.Annotations[readsGoTraces]; {
	case views == always:
		return arg, nil
	case views != "":
		if v := cmd.Flags().Lookup("view"); v != nil && strings.Contains(" "+views+" ", " "+v.Value.String()+" ") {
			return arg, nil
		}
	}
	st, err := os.Stat(arg)
	if err != nil || !st.Mode().IsRegular() {
		return arg, nil // opening it reports the error
	}
	f, err := os.Open(arg)
	if err != nil {
		return arg, nil
	}
	defer f.Close()
	var head [gowire.HeaderSize]byte
	if n, _ := f.ReadAt(head[:], 0); !gowire.Begins(head[:n]) {
		return arg, nil
	}
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return "", fmt.Errorf("making a directory for what is made of the Go execution trace: %w", err)
	}
	d.dirs = append(d.dirs, dir)
	path := filepath.Join(dir, filepath.Base(arg))
	to, err := newfile.Create(path)
	if err != nil {
		return "", fmt.Errorf("making a file for what is made of the Go execution trace: %w", err)
	}
	in := &incoming{all: st.Size()}
	p := &arrival{s: s, in: in, begin: time.Now(), next: time.Now().Add(progressAfter)}
	err = goscopes.Convert(cmd.Context(), to, untilDoneReader{cmd.Context(), f}, goscopes.Options{
		Name: filepath.Base(name), Written: st.ModTime(), Progress: func(n int64) { in.got.Store(n); p.tell() },
	})
	p.done()
	if e := to.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", show.Name(name), err)
	}
	s.means(path, name)
	return path, nil
}

// with does the same for the trace of the flag --with.
func (d *downloads) with(cmd *cobra.Command, s *streams) error {
	f := cmd.Flags().Lookup("with")
	if f == nil || f.Value.String() == "" {
		return nil
	}
	path, name, err := d.bring(cmd.Context(), s, f.Value.String())
	if err != nil {
		return err
	}
	if path, err = d.ofGoTrace(cmd, s, path, name); err != nil {
		return err
	}
	return f.Value.Set(path)
}

// means records the name under which the user knows a temporary file.
func (s *streams) means(path, given string) {
	if s.names == nil {
		s.names = map[string]string{}
	}
	s.names[path] = given
}

// given returns the name under which the user knows a file.
func (s *streams) given(path string) string {
	if name, ok := s.names[path]; ok {
		return name
	}
	return path
}
