package live

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

const (
	extension       = ".scope"
	packedExtension = ".scopez"
)

// shelf has the traces: one file, or those in the directory root.
type shelf struct {
	path string
	root *os.Root           // nil: path is a file
	of   analysis.Selection // the part of each trace that is shown: Processes and Objects

	mu    sync.Mutex
	books []*book          // by number
	known map[string]*book // by file name

	listing listing
}

// book is a trace of the shelf. It keeps its number and its name as long as the server runs,
// whatever file has that name.
type book struct {
	shelf  *shelf
	number int
	name   string   // path in root; without root, the base of the path
	parts  []source // parts of a joint timeline; nil: a single trace

	mu      sync.Mutex
	current *session // nil: not loaded
	settled extent   // of the last recording sent completely, if it is no longer written
}

// newShelf opens the shelf. It keeps a directory open: names are looked up in it, and can't
// lead out of it.
func newShelf(path string, of analysis.Selection) (*shelf, error) {
	s := &shelf{path: path, of: of, known: map[string]*book{}, listing: listing{wait: listAgain}}
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("finding the trace: %w", err)
	}
	if !st.IsDir() {
		s.add(filepath.Base(path))
		return s, nil
	}
	if s.root, err = os.OpenRoot(path); err != nil {
		return nil, fmt.Errorf("opening the directory of traces: %w", err)
	}
	return s, nil
}

func (s *shelf) close() {
	if s.root != nil {
		s.root.Close()
	}
}

// add returns the book with a name, and adds it if necessary.
func (s *shelf) add(name string) *book {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.known[name]
	if b == nil {
		b = &book{shelf: s, number: len(s.books), name: name}
		s.books, s.known[name] = append(s.books, b), b
	}
	return b
}

// lend adds a book of another shelf.
func (s *shelf) lend(b *book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.number = len(s.books)
	s.books = append(s.books, b)
}

// book returns the book with a number, or nil.
func (s *shelf) book(number int) *book {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number < 0 || number >= len(s.books) {
		return nil
	}
	return s.books[number]
}

func (s *shelf) all() []*book {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.books)
}

// place returns the trace's path for errors.
func (b *book) place() string {
	if b.shelf.root == nil {
		return b.shelf.path
	}
	return filepath.Join(b.shelf.path, b.name)
}

// stat returns the state of the current file.
func (b *book) stat() (fs.FileInfo, error) {
	if b.shelf.root == nil {
		return os.Stat(b.shelf.path)
	}
	return b.shelf.root.Lstat(b.name)
}

// open opens the trace, joined with its hot file.
func (b *book) open() (*hot.File, error) {
	f, err := b.file()
	if err != nil {
		return nil, err
	}
	joined, err := hot.Join(f)
	if err != nil {
		return nil, fmt.Errorf("opening the trace: %w", err)
	}
	return joined, nil
}

// file opens the trace's file, if it is a regular one. In a directory it must not be a link
// either: that could lead to a file that the user did not mean to show.
func (b *book) file() (*os.File, error) {
	before, err := b.stat()
	if err != nil {
		return nil, fmt.Errorf("opening the trace: %w", err)
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w; it is not a regular file", b.place(), format.ErrNotTrace) // opening a named pipe would block
	}
	var f *os.File
	if b.shelf.root == nil {
		f, err = os.Open(b.shelf.path)
	} else {
		f, err = b.shelf.root.Open(b.name)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the trace: %w", err)
	}
	if st, err := f.Stat(); err != nil || !os.SameFile(before, st) {
		f.Close()
		return nil, fmt.Errorf("%s was replaced while it was opened: %w", b.place(), errors.Join(err, fs.ErrNotExist))
	}
	return f, nil
}

// check returns an error if the trace can never be shown. One that was just created may have
// no header yet.
func (b *book) check() error {
	f, err := b.open()
	if err != nil {
		return err
	}
	defer f.Close()
	if _, _, err = readHead(f); err != nil && !blank(f) {
		return fmt.Errorf("%s: %w", b.place(), err)
	}
	return nil
}

// blank reports whether the file is empty, or only its space was allocated.
func blank(f io.ReaderAt) bool {
	var first [1]byte
	n, _ := f.ReadAt(first[:], 0)
	return n == 0 || first[0] == 0
}

// readHead reads the header and the state of a trace.
func readHead(f io.ReaderAt) (format.Header, format.State, error) {
	var b [format.StateOffset + format.StateSize]byte
	n, _ := f.ReadAt(b[:], 0)
	return format.DecodeHeader(b[:n])
}

// writerOf returns the state of the writer of trace f; closed means that f was closed.
func writerOf(f *hot.File, closed bool) string {
	if closed {
		return timeline.WriterClosed
	}
	alive, known := trace.WriterAlive(f.Trace())
	switch {
	case !known:
		return timeline.WriterUnknown
	case alive:
		return timeline.WriterRunning
	}
	return timeline.WriterGone
}
