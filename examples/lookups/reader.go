package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"unicode"
	"unicode/utf8"

	"github.com/scopeview/scopeview/scope"
)

// source is the kind of place of a word: each has a function that looks it up.
type source int

const (
	identifiers source = iota
	comments
	texts
	sources
)

func (s source) String() string { return [...]string{"identifiers", "comments", "texts"}[s] }

// count is a plain counter, for comparison.
type count struct{ hits, misses int64 }

// reader reads files. Each worker has one, so nothing in it needs a lock.
type reader struct {
	known  map[string]string // stems by word
	stems  map[string]int
	counts [sources]count
	files  int
	err    error
}

func newReader() *reader { return &reader{known: map[string]string{}, stems: map[string]int{}} }

// file reads the words of one file.
func (r *reader) file(path string) {
	defer scope.Task("file")()
	src, err := os.ReadFile(path)
	if err != nil {
		if r.err == nil {
			r.err = fmt.Errorf("reading a file: %w", err)
		}
		return
	}
	r.files++
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile(path, fset.Base(), len(src)), src, nil, scanner.ScanComments)
	for {
		switch _, tok, text := s.Scan(); tok {
		case token.EOF:
			return
		case token.IDENT:
			r.identifier(text)
		case token.COMMENT:
			r.comment(text)
		case token.STRING:
			r.text(text)
		}
	}
}

func (r *reader) identifier(name string) { words(name, func(w string) { r.ofIdentifier(w) }) }
func (r *reader) comment(text string)    { words(text, func(w string) { r.ofComment(w) }) }
func (r *reader) text(text string)       { words(text, func(w string) { r.ofText(w) }) }

// The three callers of stem.
func (r *reader) ofIdentifier(word string) { r.stems[r.stem(word, &r.counts[identifiers])]++ }
func (r *reader) ofComment(word string)    { r.stems[r.stem(word, &r.counts[comments])]++ }
func (r *reader) ofText(word string)       { r.stems[r.stem(word, &r.counts[texts])]++ }

// stem returns the stem of a word. Each lookup is counted by scope, and by the caller's
// plain counter.
func (r *reader) stem(word string, c *count) string {
	if s, ok := r.known[word]; ok {
		scope.Stack("stem.hit", int64(len(word)))
		c.hits++
		return s
	}
	scope.Stack("stem.miss", int64(len(word)))
	c.misses++
	s := stemOf(word)
	r.known[word] = s
	return s
}

// words calls f with the words of a text: runs of letters, cut where a capital
// follows a small letter.
func words(text string, f func(string)) {
	begin := -1
	small := false
	for i, c := range text {
		letter := unicode.IsLetter(c)
		if begin >= 0 && (!letter || small && unicode.IsUpper(c)) {
			f(text[begin:i])
			begin = -1
		}
		if letter && begin < 0 {
			begin = i
		}
		small = letter && unicode.IsLower(c)
	}
	if begin >= 0 {
		f(text[begin:])
	}
}

// endings are cut off, the first that fits, where three letters remain.
var endings = []string{"ization", "ational", "fulness", "ations", "ation", "ments", "ment", "ings", "ness", "ing", "ers", "ies", "ed", "er", "es", "ly", "s"}

func stemOf(word string) string {
	small := make([]rune, 0, len(word))
	for _, c := range word {
		small = append(small, unicode.ToLower(c))
	}
	s := string(small)
	for _, e := range endings {
		if n := len(s) - len(e); n > 0 && s[n:] == e && utf8.RuneCountInString(s[:n]) >= 3 {
			return s[:n]
		}
	}
	return s
}
