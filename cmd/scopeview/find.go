package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/pack"
	"github.com/scopeview/scopeview/internal/trace"
)

// findTrace turns TRACE into the path of a file: itself, the newest trace of a directory, or the
// trace that a process writes.
func findTrace(arg string) (string, error) {
	st, err := os.Stat(arg)
	switch {
	case err == nil && st.IsDir():
		return newestIn(arg)
	case err == nil:
		return arg, nil
	case errors.Is(err, fs.ErrNotExist) && allDigits(arg):
		return traceOfProcess(arg)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: no such file or directory; TRACE is a *.scope file, a directory with such files, or the number of a running process", arg)
	}
	return "", fmt.Errorf("looking for the trace: %w", err)
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

const extension = ".scope"

func newestIn(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("looking for the newest trace: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); (ext == extension || ext == packedExtension) && !e.IsDir() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	if len(paths) == 0 {
		return "", fmt.Errorf("%s: no *%s file in this directory; a program writes one with scope.Start(%q)", dir, extension, dir)
	}
	return newest(paths), nil
}

// candidate is a file that TRACE may name.
type candidate struct {
	path    string
	trace   bool // it begins like a trace
	growing bool // not marked complete, and its writer may be alive
	start   time.Time
	written time.Time
}

// newest returns the path of the trace that was started last. A snapshot has the same start as its
// trace, which is preferred while it grows; later a trace with a joined Go execution trace is
// preferred, because it has more data. Files that don't begin like a trace are ordered by
// modification time, and returned only if there is no trace, so that the error is about the newest
// of them.
func newest(paths []string) string {
	var best candidate
	for _, p := range paths {
		if f := readCandidate(p); best.path == "" || f.compare(best) > 0 {
			best = f
		}
	}
	return best.path
}

// compare returns more than 0 if f is preferred to g.
func (f candidate) compare(g candidate) int {
	bit := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	if order := cmp.Or(bit(f.trace)-bit(g.trace), f.start.Compare(g.start), bit(f.growing)-bit(g.growing)); order != 0 {
		return order
	}
	return cmp.Or(bit(f.joined())-bit(g.joined()), f.written.Compare(g.written))
}

// joined reports whether a Go execution trace was joined to it.
func (f candidate) joined() bool {
	if !f.trace {
		return false
	}
	t, err := trace.OpenFile(f.path)
	if err != nil {
		return false
	}
	defer t.Close()
	return t.Lookup(gotrace.FactJoined) != ""
}

// readCandidate reads a trace's header.
func readCandidate(path string) candidate {
	f := candidate{path: path}
	st, err := os.Stat(path)
	if err != nil {
		return f
	}
	f.written = st.ModTime()
	if !st.Mode().IsRegular() {
		return f // opening a named pipe would block
	}
	file, err := os.Open(path)
	if err != nil {
		return f
	}
	defer file.Close()
	var b [format.StateOffset + format.StateSize]byte
	n, _ := file.ReadAt(b[:], 0)
	if string(b[:len(format.PackedMagic)]) == format.PackedMagic {
		r, err := pack.Open(file, st.Size(), path)
		if err != nil {
			return f
		}
		defer r.Close()
		n, _ = r.ReadAt(b[:], 0)
	}
	if h, s, err := format.DecodeHeader(b[:n]); err == nil {
		f.trace, f.start = true, time.Unix(0, h.StartWall)
		if !s.Closed {
			alive, known := trace.WriterAlive(file)
			f.growing = alive || !known
		}
	}
	return f
}

// traceOfProcess finds the trace that a process has open or mapped.
func traceOfProcess(pid string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("%s: finding a process's trace works on Linux only; give the trace's file or directory", pid)
	}
	dir := "/proc/" + pid
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("%s: no such file or process; the trace of a process that has ended is in the directory given to scope.Start", pid)
	}
	paths, err := openedBy(dir)
	if len(paths) > 0 {
		return newest(paths), nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("process %s: can't list its files; run scopeview as the same user, or give the trace's path (%w)", pid, err)
	}
	if err != nil {
		return "", fmt.Errorf("process %s: looking for its trace: %w", pid, err)
	}
	return "", fmt.Errorf("process %s writes no trace; it has to import scope and call scope.Start", pid)
}

// openedBy lists the traces that a process has open or mapped, by paths that
// lead to them from here.
func openedBy(dir string) ([]string, error) {
	var paths []string
	add := func(name, link string) {
		name, deleted := strings.CutSuffix(name, " (deleted)")
		if !strings.HasSuffix(name, extension) {
			return
		}
		// The process may live in another mount namespace, or the file have lost its
		// name.
		for _, p := range []string{name, dir + "/root" + name, link} {
			if p == "" || deleted && p != link {
				continue
			}
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
				if !slices.Contains(paths, p) {
					paths = append(paths, p)
				}
				return
			}
		}
	}
	fds, err := os.ReadDir(dir + "/fd")
	for _, fd := range fds {
		link := dir + "/fd/" + fd.Name()
		if name, err := os.Readlink(link); err == nil {
			add(name, link)
		}
	}
	maps, mapsErr := os.Open(dir + "/maps")
	if mapsErr != nil {
		return paths, errors.Join(err, mapsErr)
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		if i := strings.IndexByte(lines.Text(), '/'); i >= 0 {
			add(lines.Text()[i:], "")
		}
	}
	return paths, err
}

// openTrace opens the trace that TRACE names, with all data known about it.
func openTrace(ctx context.Context, arg string) (t *trace.Trace, path string, err error) {
	if path, err = findTrace(arg); err != nil {
		return nil, "", err
	}
	t, err = open.File(ctx, path)
	return t, path, err
}

// openFile opens the file that TRACE names, joined with its hot file, for readers of its bytes.
func openFile(ctx context.Context, arg string) (r *trace.Reading, size int64, err error) {
	path, err := findTrace(arg)
	if err != nil {
		return nil, 0, err
	}
	f, err := hot.Open(path)
	if err == nil {
		if size, err = f.Size(); err != nil {
			f.Close()
		}
	}
	if err != nil && !errors.Is(err, format.ErrNotTrace) {
		err = fmt.Errorf("opening the trace: %w", err)
	}
	if err != nil {
		return nil, 0, err
	}
	return &trace.Reading{File: f, Until: ctx}, size, nil
}
