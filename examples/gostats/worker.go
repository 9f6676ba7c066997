package main

import (
	"compress/gzip"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/scope"
)

// worker takes files from a channel and adds its results to the shared stats.
type worker struct {
	shared     *stats
	mergeEvery int             // number of files after which it merges their sizes
	sizes      map[string]size // by package directory, not merged yet
	files      int             // in sizes
	zip        *gzip.Writer
}

func newWorker(shared *stats, mergeEvery int) *worker {
	return &worker{shared: shared, mergeEvery: mergeEvery, sizes: make(map[string]size), zip: gzip.NewWriter(io.Discard)}
}

func (w *worker) run(paths <-chan string) {
	for path := range paths {
		if err := w.file(path); err != nil {
			w.shared.fail(err)
		}
		if w.files == w.mergeEvery {
			w.flush()
		}
	}
	w.flush()
}

func (w *worker) file(path string) error {
	src, err := read(path)
	if err != nil {
		return err
	}
	w.shared.count(parse(path, src))
	packed, err := w.gzip(src)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	w.sizes[dir] = w.sizes[dir].plus(size{files: 1, bytes: len(src), packed: packed})
	w.files++
	return nil
}

func read(path string) ([]byte, error) {
	s := scope.Begin("read", scope.KV("file", path))
	src, err := os.ReadFile(path)
	s.End(scope.KV("bytes", len(src)))
	return src, err
}

// parse returns nil for a file that is not correct Go: the standard library
// keeps some as tests of the compiler.
func parse(path string, src []byte) *ast.File {
	defer scope.Task("parse", scope.KV("bytes", len(src)))()
	f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		scope.Event("no Go", scope.KV("file", path))
		return nil
	}
	return f
}

// gzip returns the size of src when compressed.
func (w *worker) gzip(src []byte) (int, error) {
	s := scope.Begin("gzip", scope.KV("bytes", len(src)))
	var n counter
	w.zip.Reset(&n)
	_, err := w.zip.Write(src)
	if err == nil {
		err = w.zip.Close()
	}
	s.End(scope.KV("packed", int(n)))
	return int(n), err
}

// flush merges the worker's sizes into the shared ones.
func (w *worker) flush() {
	w.shared.merge(w.sizes)
	clear(w.sizes)
	w.files = 0
}

// counter is a writer that only counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
