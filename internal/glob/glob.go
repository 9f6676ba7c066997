// Package glob is the language in which names are chosen: by scope.WithFilter
// and scope.SetFilter in the program, by --name and --track in the tool. It is a
// leaf and imports next to nothing, because the recorder carries it.
//
// An expression is a list of patterns with commas between them; blanks around a
// pattern do not count. In a pattern, * matches any run of characters, an empty
// one too, ? matches one character, and everything else matches itself, capitals
// apart from small letters. A pattern with - in front excludes what it matches.
// Of the patterns that match a name the last one decides; a name that none
// matches is in if there are only exclusions, else out:
//
//	store.*               what begins with "store."
//	store.*,-store.mu     … except "store.mu"
//	-http.*               everything but what begins with "http."
//	-http.*,http.slow     … hence only "http.slow": there is an inclusion
//	*,-http.*,http.slow   everything, without "http.…", with "http.slow"
//
// There is no way to quote: ? stands for a comma, a star or a leading dash of a
// name as well as for any other character.
package glob

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Filter chooses names. The zero Filter chooses all of them. A Filter does not
// change and may be shared by goroutines.
type Filter struct {
	expr     string
	patterns []pattern
	rest     bool // whether a name that no pattern matches is in
}

type pattern struct {
	glob    string
	exclude bool
}

// Parse reads an expression; an empty one gives the zero Filter.
func Parse(expr string) (Filter, error) {
	if strings.TrimSpace(expr) == "" {
		return Filter{}, nil
	}
	f := Filter{expr: expr, rest: true}
	for item := range strings.SplitSeq(expr, ",") {
		g := strings.TrimSpace(item)
		g, exclude := strings.CutPrefix(g, "-")
		if g == "" {
			return Filter{}, fmt.Errorf("filter %q: a pattern is empty; write for example \"store.*,-store.mu\"", expr)
		}
		if !exclude {
			f.rest = false
		}
		f.patterns = append(f.patterns, pattern{g, exclude})
	}
	return f, nil
}

// String returns the expression that Parse read.
func (f Filter) String() string { return f.expr }

// All tells whether f is the zero Filter, which there is no need to ask.
func (f Filter) All() bool { return len(f.patterns) == 0 }

// Match tells whether f chooses name. It does not allocate.
func (f Filter) Match(name string) bool {
	for i := len(f.patterns) - 1; i >= 0; i-- {
		if p := &f.patterns[i]; match(p.glob, name) {
			return !p.exclude
		}
	}
	return f.rest || len(f.patterns) == 0
}

// match tells whether the whole of name matches glob. Where a star has to be
// tried again, only the last one is: an earlier star need never take more, since
// what lies between the two already matched at its leftmost place. So the time
// is at most the product of the lengths, whatever the pattern.
func match(glob, name string) bool {
	star, from := -1, 0 // glob after the last star; where in name its run ends
	g, n := 0, 0
	for n < len(name) {
		if g < len(glob) {
			switch c := glob[g]; {
			case c == '*':
				g++
				star, from = g, n
				continue
			case c == '?':
				// A character, not a byte; a broken byte counts as one.
				_, w := utf8.DecodeRuneInString(name[n:])
				g, n = g+1, n+w
				continue
			case c == name[n]:
				g, n = g+1, n+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, w := utf8.DecodeRuneInString(name[from:])
		from += w
		g, n = star, from
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}
