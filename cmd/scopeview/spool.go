package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/show"
)

// incoming is a stream that is copied into a file.
type incoming struct {
	name string // name for messages
	file string // name of the copy
	from io.ReadCloser
	all  int64        // size in bytes; -1: not known
	got  atomic.Int64 // bytes received
	more func()       // called when bytes arrive; may be nil
}

// sourceError is an error of reading a stream, as opposed to an error in its contents.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// Read reads from the stream.
func (in *incoming) Read(b []byte) (int, error) {
	n, err := in.from.Read(b)
	in.got.Add(int64(n))
	if in.more != nil {
		in.more()
	}
	if err != nil && err != io.EOF {
		err = &sourceError{err}
	}
	return n, err
}

// standardInput is the TRACE that names standard input.
const standardInput = "-"

// stream returns a stream for a TRACE that can't be read at random: standard input, a pipe, a
// compressed file; nil for others.
func (d *downloads) stream(ctx context.Context, s *streams, arg string) (*incoming, error) {
	if arg == standardInput {
		if s.inTerm {
			return nil, usagef("-: standard input is a terminal; use a pipe, or < FILE")
		}
		if d.stdin {
			return nil, usagef("-: standard input can be read only once")
		}
		d.stdin = true
		in := &incoming{name: "standard input", file: copyName("stdin"), from: interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(s.in), nil }), all: -1}
		if f, ok := s.in.(*os.File); ok {
			if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
				in.all = st.Size()
			}
		}
		return in, nil
	}
	st, err := os.Stat(arg)
	if err != nil || st.IsDir() {
		return nil, nil // opening it reports the error, or takes the newest
	}
	in := &incoming{name: arg, file: copyName(filepath.Base(arg)), all: -1}
	if st.Mode().IsRegular() {
		if !compressedFile(arg) {
			return nil, nil
		}
		in.all = st.Size()
	}
	in.from = interruptible(ctx, func() (io.ReadCloser, error) { return os.Open(arg) })
	return in, nil
}

// interruptible returns a reader of a file that ends when ctx is done. A read from a pipe, and the
// opening of one without a writer, can't be interrupted: their goroutine is left behind.
func interruptible(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		f, err := open()
		if err == nil {
			_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 1<<20))
			f.Close()
		}
		w.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	return r
}

// spool copies a stream, decompressed, to a file in its own directory. It stops early if the stream
// does not begin like a readable file. If compressed data are cut off, the file ends there, and a
// message says so.
func (d *downloads) spool(ctx context.Context, s *streams, in *incoming) (path string, err error) {
	dir, err := os.MkdirTemp(d.in, "scopeview-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the trace: %w", err)
	}
	d.dirs = append(d.dirs, dir)
	path = filepath.Join(dir, in.file)
	f, err := newfile.Create(path)
	if err != nil {
		return "", fmt.Errorf("making a file for the trace: %w", err)
	}
	p := &arrival{s: s, in: in, begin: time.Now(), next: time.Now().Add(progressAfter)}
	n, err := in.copyTo(ctx, f, p)
	p.done()
	if e := f.Close(); err == nil {
		err = e
	}
	var failed *sourceError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, syscall.ENOSPC):
		return "", fmt.Errorf("%w; set TMPDIR to a directory with more space", err)
	case errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &failed) && n > 0:
		fmt.Fprintf(s.err, "scopeview: %s: %s: the compressed data end early; the complete part is read\n", show.Text(in.name), s.alarm("cut off after "+show.Size(in.got.Load())))
		return path, nil
	}
	return path, err
}

// copyTo writes the stream, decompressed, to f.
func (in *incoming) copyTo(ctx context.Context, f *os.File, p *arrival) (n int64, err error) {
	from, err := unpacked(in)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	if head, err := from.Peek(len(format.Magic)); !readable(head) {
		if err == nil || err == io.EOF {
			err = format.ErrNotTrace
		}
		return 0, err
	}
	buf := make([]byte, 1<<20)
	for looked := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		k, err := from.Read(buf)
		if _, err := f.Write(buf[:k]); err != nil {
			return n, err
		}
		p.show()
		if n += int64(k); n-looked >= lookEach {
			looked = n
			if err := roomLeft(f); err != nil {
				return n, fmt.Errorf("%w, after %s", err, show.Size(n))
			}
		}
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
	}
}

// lookEach is the number of bytes between checks of the free space.
const lookEach = 16 << 20

// leaveFree bounds the free space that a copy leaves, which is otherwise a twentieth of the file
// system: a small file can inflate to terabytes.
const leaveFree = 1 << 30

// roomLeft returns an error that wraps ENOSPC if too little space is left on f's file system.
func roomLeft(f *os.File) error {
	free, all, known := space(f)
	if least := min(all/20, leaveFree); known && free < least {
		return fmt.Errorf("%s are left in %s: %w", show.Size(free), filepath.Dir(filepath.Dir(f.Name())), syscall.ENOSPC)
	}
	return nil
}
