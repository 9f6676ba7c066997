package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/scopeview/scopeview/scope"
)

// source has lines. The totals work with any source. This program has one kind, which the
// compiler only knows from a profile.
type source interface {
	// next returns a line without its end; ok is false after the last.
	next() (line []byte, ok bool)
}

// text is a source that lies in memory.
type text struct{ rest []byte }

func (t *text) next() (line []byte, ok bool) {
	if len(t.rest) == 0 {
		return nil, false
	}
	line, t.rest = cut(t.rest, '\n')
	return line, true
}

// entry is a line of the log.
type entry struct {
	path   []byte
	status int64
	bytes  int64
	took   int64 // µs
	agent  []byte
}

// parse returns the entry of a line. The entry escapes, so it is on the heap, unless the
// call is inlined.
func parse(line []byte) (*entry, error) {
	e := &entry{}
	e.path, line = cut(line, ' ')
	var ok [3]bool
	e.status, line, ok[0] = number(line)
	e.bytes, line, ok[1] = number(line)
	e.took, line, ok[2] = number(line)
	if e.agent = line; ok != [3]bool{true, true, true} {
		return nil, fmt.Errorf("%q lacks a number", e.path)
	}
	return e, nil
}

// cut returns the text before a separator, and the text after it.
func cut(text []byte, end byte) (before, behind []byte) {
	for i, c := range text {
		if c == end {
			return text[:i], text[i+1:]
		}
	}
	return text, nil
}

// number returns the number before the first blank, and the text after it.
func number(line []byte) (n int64, behind []byte, ok bool) {
	for i, c := range line {
		switch {
		case c == ' ' && i > 0:
			return n, line[i+1:], true
		case c < '0' || c > '9' || n > math.MaxInt64/10-1:
			return 0, nil, false
		}
		n = 10*n + int64(c-'0')
	}
	return 0, nil, false
}

// total has the sums of the lines of a path.
type total struct{ requests, failed, bytes, took int64 }

// totals are by path.
type totals map[string]*total

// add adds all entries of a source.
func (t totals) add(from source) error {
	defer scope.Task("add")()
	for {
		line, ok := from.next()
		if !ok {
			return nil
		}
		e, err := parse(line)
		if err != nil {
			return err
		}
		of := t[string(e.path)]
		if of == nil {
			of = &total{}
			t[string(e.path)] = of
		}
		of.requests++
		of.bytes += e.bytes
		of.took += e.took
		if e.status >= 500 {
			of.failed++
		}
	}
}

// print writes a line for each path.
func (t totals) print(w io.Writer) {
	defer scope.Task("print")()
	var paths []string
	for path := range t {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		x := t[path]
		fmt.Fprintf(w, "%s: %d requests, %d failed, %d bytes, %d µs\n", path, x.requests, x.failed, x.bytes, x.took)
	}
}
