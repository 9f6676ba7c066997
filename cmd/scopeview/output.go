package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/report"
)

// output is the destination of a command's result: the flag -o.
type output struct{ path string }

func (o *output) standard() bool { return o.path == "" || o.path == "-" }

// notOver refuses to overwrite the trace that is read.
func (o *output) notOver(trace string) error {
	a, errA := os.Stat(o.path)
	b, errB := os.Stat(trace)
	if !o.standard() && errA == nil && errB == nil && os.SameFile(a, b) {
		return usagef("-o %s is the trace itself; give another name", o.path)
	}
	return nil
}

// write writes the result with f. A file appears under its name only when f is done, so that a
// failed run leaves no partial file, and keeps an existing one. Only the user can read it, as the
// trace it is made from.
func (o *output) write(s *streams, f func(w io.Writer) error) (err error) {
	if o.standard() {
		return f(s.out)
	}
	path := o.path
	st, err := os.Lstat(path)
	if err == nil && st.Mode()&(os.ModeSymlink|os.ModeNamedPipe) != 0 {
		if ownedByOthers(st) {
			return fmt.Errorf("%s belongs to another user, who can redirect it; give another name", o.path)
		}
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
			st, _ = os.Stat(path)
		} else if to, err := os.Stat(path); err == nil {
			st = to // it leads to no name: a pipe as in /dev/fd
		}
	}
	if st != nil && st.Mode()&os.ModeSymlink == 0 && !st.Mode().IsRegular() {
		return o.writeInto(path, st, f) // a device or a pipe can't be replaced
	}
	temp := newfile.Temporary(path)
	file, err := newfile.Create(temp)
	if err != nil {
		return fmt.Errorf("creating %s: %w", o.path, errors.Unwrap(err))
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(temp)
		}
	}()
	if err := f(file); err != nil {
		return fmt.Errorf("%s was not written: %w", o.path, err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("%s was not written: %w", o.path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("%s was not written: %w", o.path, err)
	}
	return nil
}

// writeInto writes the result with f into a device or pipe named by the user; st describes it.
func (o *output) writeInto(path string, st fs.FileInfo, f func(w io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("opening %s for writing: %w", o.path, errors.Unwrap(err))
	}
	if opened, err := file.Stat(); err != nil || !os.SameFile(st, opened) {
		file.Close()
		return fmt.Errorf("%s was replaced while it was opened; give another name", o.path)
	}
	if err := errors.Join(f(file), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", o.path, err)
	}
	return nil
}

// exact returns a writer for output that must be exact in a file; on a terminal it makes control
// characters visible.
func (o *output) exact(s *streams, w io.Writer) io.Writer {
	if o.standard() && s.outTerm {
		return &caretWriter{w: w}
	}
	return w
}

// showReport writes a report as the command's document, or as text.
func (c *call) showReport(r *report.Report) error {
	return c.out.write(c.s, func(w io.Writer) error { return c.writeReport(w, r) })
}

func (c *call) writeReport(w io.Writer, r *report.Report) error {
	if c.asJSON {
		return report.WriteJSON(c.out.exact(c.s, w), c.document(), r.Document, c.lines)
	}
	b := report.Text{Color: c.out.standard() && c.s.color, Limit: c.lines}
	r.Text(&b)
	_, err := b.WriteTo(w)
	return err
}

// untilDone is a writer that fails once its context is done: it stops a function that does not take
// a context.
type untilDone struct {
	ctx context.Context
	io.Writer
}

func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(p)
}
