package text

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// line is one line, split into words. Words are removed as they are parsed; any word left is an
// error.
type line struct {
	words []string
}

var errQuote = errors.New("a quoted text does not end")

// split cuts a line into words: at blanks, but not in quotes.
func split(s string) (*line, error) {
	var l line
	for i := 0; i < len(s); {
		switch s[i] {
		case ' ', '\t', '\r':
			i++
			continue
		case '#':
			// #17 is a name's id, anything else a comment.
			if i+1 == len(s) || s[i+1] < '0' || s[i+1] > '9' {
				return &l, nil
			}
		}
		begin := i
		for i < len(s) && s[i] != ' ' && s[i] != '\t' && s[i] != '\r' {
			if s[i] != '"' {
				i++
				continue
			}
			q, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return nil, errQuote
			}
			i += len(q)
		}
		l.words = append(l.words, s[begin:i])
	}
	return &l, nil
}

// first takes the first word, "" if there is none.
func (l *line) first() string {
	if len(l.words) == 0 {
		return ""
	}
	w := l.words[0]
	l.words = l.words[1:]
	return w
}

// take takes the first word for which ok returns true.
func (l *line) take(ok func(string) bool) (string, bool) {
	for i, w := range l.words {
		if ok(w) {
			if i == 0 { // a line can have as many words as a block has bytes
				l.words = l.words[1:]
				return w, true
			}
			l.words = append(l.words[:i:i], l.words[i+1:]...)
			return w, true
		}
	}
	return "", false
}

// flag takes a word and reports whether it was there.
func (l *line) flag(word string) bool {
	_, ok := l.take(func(w string) bool { return w == word })
	return ok
}

// value takes key=… and returns the text behind the =.
func (l *line) value(key string) (string, bool) {
	w, ok := l.take(func(w string) bool { return strings.HasPrefix(w, key+"=") })
	if !ok {
		return "", false
	}
	return w[len(key)+1:], true
}

// number takes key=N.
func (l *line) number(key string, otherwise int64) (int64, error) {
	v, ok := l.value(key)
	if !ok {
		return otherwise, nil
	}
	n, err := parseInt(v)
	if err != nil {
		return 0, fmt.Errorf("%s=%s: not a number", key, v)
	}
	return n, nil
}

// numbers takes several key=N into dst, whose values are the defaults.
func (l *line) numbers(keys []string, dst ...*int64) error {
	for i, k := range keys {
		n, err := l.number(k, *dst[i])
		if err != nil {
			return err
		}
		*dst[i] = n
	}
	return nil
}

// quoted takes the first quoted word.
func (l *line) quoted() (string, bool, error) {
	w, ok := l.take(func(w string) bool { return w[0] == '"' })
	if !ok {
		return "", false, nil
	}
	s, err := strconv.Unquote(w)
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", w, err)
	}
	return s, true, nil
}

// rest returns an error if words are left.
func (l *line) rest() error {
	if len(l.words) > 0 {
		return fmt.Errorf("%q is not understood here", l.words[0])
	}
	return nil
}

// words is a line that is being written.
type words []byte

// word appends key=N.
func (b *words) word(key string, v int64) {
	*b = strconv.AppendInt(append(append(append(*b, ' '), key...), '='), v, 10)
}

// nonzero is word for a value that is left out if it is 0.
func (b *words) nonzero(key string, v int64) {
	if v != 0 {
		b.word(key, v)
	}
}

// parseInt reads 64 bits, signed or not.
func parseInt(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return n, nil
	}
	u, err := strconv.ParseUint(s, 0, 64)
	return int64(u), err
}
