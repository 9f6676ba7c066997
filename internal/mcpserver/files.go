package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/pack"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// extensions are the file extensions of traces, packed ones included.
var extensions = []string{".scope", ".scopez"}

// shelf is a directory of traces.
type shelf struct {
	root *os.Root
	path string // as given on the command line
	only string // the name of the only trace in it that may be read; "": all
}

// openShelf opens the directory or the trace that an argument names.
func openShelf(arg string) (s shelf, err error) {
	st, err := os.Stat(arg)
	if err != nil {
		return s, fmt.Errorf("%w; give existing directories and traces, not addresses or process numbers", err)
	}
	s.path = filepath.Clean(arg)
	if !st.IsDir() {
		if !st.Mode().IsRegular() || !slices.Contains(extensions, filepath.Ext(arg)) {
			return s, fmt.Errorf("%s is neither a directory nor a file named like a trace, *%s", arg, strings.Join(extensions, " or *"))
		}
		s.only, s.path = filepath.Base(s.path), filepath.Dir(s.path)
	}
	if s.root, err = os.OpenRoot(s.path); err != nil {
		return s, fmt.Errorf("opening the directory of traces: %w", err)
	}
	return s, nil
}

// errNotAllowed is the error for every trace that may not be read, whether it exists or not, so
// that it does not reveal which files exist.
var errNotAllowed = errors.New("no such trace: use a name from the answer of the tool list")

// find returns the shelf and the path in it of a trace, given by its name in list or a shorter one
// within a shelf.
func (s *Server) find(name string) (*shelf, string, error) {
	for i := range s.shelves {
		x := &s.shelves[i]
		in := filepath.FromSlash(name)
		if rest, err := filepath.Rel(x.path, in); err == nil && filepath.IsAbs(in) == filepath.IsAbs(x.path) && filepath.IsLocal(rest) {
			if x.has(rest) {
				return x, rest, nil
			}
		}
		if x.has(in) {
			return x, in, nil
		}
	}
	return nil, "", errNotAllowed
}

// has reports whether name is a regular file that may be read as a trace.
func (x *shelf) has(name string) bool {
	if !filepath.IsLocal(name) || !slices.Contains(extensions, filepath.Ext(name)) || x.only != "" && filepath.Clean(name) != x.only {
		return false
	}
	st, err := x.root.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// opened is an open trace.
type opened struct {
	*trace.Trace
	name  string
	close func()
}

// open opens a trace, which can be read until ctx is done. The caller must close it.
func (s *Server) open(ctx context.Context, name string) (*opened, error) {
	x, in, err := s.find(name)
	if err != nil {
		return nil, err
	}
	f, err := x.root.Open(in)
	if err != nil {
		return nil, errNotAllowed
	}
	o := &opened{name: filepath.ToSlash(filepath.Join(x.path, in)), close: func() { f.Close() }}
	if o.Trace, err = s.read(ctx, f, o); err != nil {
		o.close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

func (s *Server) read(ctx context.Context, f *os.File, o *opened) (*trace.Trace, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() { // it was replaced meanwhile
		return nil, errNotAllowed
	}
	var from io.ReaderAt = f
	size := st.Size()
	var magic [len(format.PackedMagic)]byte
	if n, _ := f.ReadAt(magic[:], 0); string(magic[:n]) == format.PackedMagic {
		r, err := pack.Open(f, size, o.name)
		if err != nil {
			return nil, err
		}
		o.close = func() { r.Close(); f.Close() }
		from, size = r, r.Size()
	}
	if size > largestTrace {
		return nil, fmt.Errorf("it has %s, and at most %s are read here: use the command line", show.Size(size), show.Size(largestTrace))
	}
	t, err := open.Reader(&until{from, f, ctx}, size, open.Options{Sources: s.sourcesOf})
	if err != nil {
		return nil, err
	}
	if t.Header().Segments > 0 {
		return nil, errors.New("it consists of several files, and only one is read here: make it one file with scopeview snapshot")
	}
	return t, nil
}

// until is a file that can be read until a context is done.
type until struct {
	io.ReaderAt
	file *os.File
	ctx  context.Context
}

// Trace returns the file, which a program may still be writing.
func (u *until) Trace() *os.File { return u.file }

func (u *until) ReadAt(b []byte, off int64) (int, error) {
	if a, ok := u.ctx.Value(spent{}).(*allowance); ok {
		a.look()
	}
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.ReaderAt.ReadAt(b, off)
}

// sourceEndings are the extensions of source files.
var sourceEndings = []string{".go", ".s"}

// sourcesOf returns the sources of a trace: those stored in it, and those below the directories
// given for sources.
func (s *Server) sourcesOf(t *trace.Trace) *symbols.Sources {
	stored, module := trace.SourcesOf(t), t.Lookup("module")
	return &symbols.Sources{Stored: stored.Read, StoredIn: stored.In, Here: func(file string) ([]byte, error) {
		if !slices.Contains(sourceEndings, path.Ext(file)) {
			return nil, fs.ErrNotExist
		}
		for i := range s.sources {
			if b, err := s.sources[i].source(file, module); err == nil {
				return b, nil
			}
		}
		return nil, fs.ErrNotExist
	}}
}

// source reads a source by the name that the compiler recorded: below the directory, or, if the
// directory is the program's module, by its path in the module.
func (x *shelf) source(file, module string) ([]byte, error) {
	in := filepath.FromSlash(file)
	if filepath.IsAbs(in) {
		var err error
		if in, err = filepath.Rel(x.path, in); err != nil {
			return nil, err
		}
	} else if rest, ok := strings.CutPrefix(file, module+"/"); ok && module != "" {
		in = filepath.FromSlash(rest)
	}
	if !filepath.IsLocal(in) {
		return nil, fs.ErrNotExist
	}
	f, err := x.root.Open(in)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > largestSource {
		return nil, fs.ErrNotExist
	}
	return io.ReadAll(io.LimitReader(f, largestSource))
}

// listed is an entry of list.
type listed struct {
	name    string
	size    int64
	written time.Time
	started time.Time // zero: not known
	closed  bool
}

// list lists the traces that may be read, newest first. more reports whether there are names beyond
// the mostNames that it looks at.
func (s *Server) list(ctx context.Context) (all []listed, more bool) {
	looked := 0
	for i := range s.shelves {
		x := &s.shelves[i]
		_ = fs.WalkDir(x.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
			if looked++; looked > mostNames || ctx.Err() != nil {
				more = true
				return fs.SkipAll
			}
			switch {
			case err != nil:
				return nil // continue with the others
			case d.IsDir():
				if strings.Count(p, "/") >= deepest || x.only != "" && p != "." {
					return fs.SkipDir
				}
				return nil
			case !x.has(filepath.FromSlash(p)):
				return nil
			}
			if st, err := x.root.Stat(filepath.FromSlash(p)); err == nil {
				l := listed{name: filepath.ToSlash(filepath.Join(x.path, filepath.FromSlash(p))), size: st.Size(), written: st.ModTime()}
				x.head(p, &l)
				all = append(all, l)
			}
			return nil
		})
	}
	slices.SortStableFunc(all, func(a, b listed) int { return b.written.Compare(a.written) })
	return all, more
}

// head sets the fields of l that the header of a trace has.
func (x *shelf) head(name string, l *listed) {
	f, err := x.root.Open(filepath.FromSlash(name))
	if err != nil {
		return
	}
	defer f.Close()
	var b [format.StateOffset + format.StateSize]byte
	n, _ := f.ReadAt(b[:], 0)
	if h, st, err := format.DecodeHeader(b[:n]); err == nil {
		l.started, l.closed = time.Unix(0, h.StartWall), st.Closed
	}
}
