// Package glob matches names against filter expressions, of scope.WithFilter and
// scope.SetFilter in the program, and of --name and --track in the tool. It imports next to
// nothing, because it is part of the recorder.
//
// An expression is a list of patterns with commas between them; blanks around a pattern do not
// count. In a pattern, * matches any run of characters, an empty one too, ? matches one
// character, and everything else matches itself, capitals apart from small letters. A pattern
// with - in front excludes what it matches. Of the patterns that match a name the last one
// decides; a name that no pattern matches is included if there are only exclusions, and
// otherwise excluded:
//
//	store.*               names that begin with "store."
//	store.*,-store.mu     … except "store.mu"
//	-http.*               everything but names that begin with "http."
//	-http.*,http.slow     … hence only "http.slow": there is an inclusion
//	*,-http.*,http.slow   everything, without "http.…", with "http.slow"
//
// There is no way to quote: ? stands for a comma, a star or a leading dash of a name as well
// as for any other character. A byte that is not UTF-8 is a character.
//
// # Design
//
// Names are matched inside the program that is recorded, so the cost of a name must not depend
// on the filter. All patterns together are one automaton, in which a bit stands for a place in
// a pattern. A name is read once, and each character costs a few instructions for 64 places,
// whatever the patterns are; there is no backtracking. MaxExpr limits the number of places.
package glob

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// MaxExpr is the maximum size of an expression in bytes, and twice the maximum number of its
// patterns. The longest expression costs a name some 0.1 µs for each of its characters.
const MaxExpr = 4000

// maxWords is the number of words with a bit for each place: a pattern has at most one place
// for each of its bytes and for the comma after it.
const maxWords = MaxExpr/64 + 1

// Filter selects names. The zero Filter selects all of them. A Filter does not change and may
// be shared by goroutines.
type Filter struct {
	expr string
	p    *program // nil: the zero Filter
}

// program is all patterns, one after the other. A place of a pattern is reached if the part of
// the pattern before it has matched the part of the name read so far.
type program struct {
	rest    bool              // whether a name that no pattern matches is included
	next    map[rune][]uint64 // the places from which a character leads to the next one
	other   []uint64          // the same for a character that is not in next: places of a ?
	star    []uint64          // the places that any character leaves unchanged
	first   []uint64          // of each pattern: reached before any character
	last    []uint64          // reached when the pattern has matched
	exclude []uint64          // those of last whose pattern excludes
}

// Parse parses an expression; an empty one yields the zero Filter.
func Parse(expr string) (Filter, error) {
	if len(expr) > MaxExpr {
		return Filter{}, fmt.Errorf("the filter has %d bytes, at most %d are allowed; choose more names with each pattern, by stars", len(expr), MaxExpr)
	}
	if strings.TrimSpace(expr) == "" {
		return Filter{}, nil
	}
	p := &program{rest: true, next: map[rune][]uint64{}}
	words := len(expr)/64 + 1
	mem := make([]uint64, 5*words)
	for i, set := range []*[]uint64{&p.other, &p.star, &p.first, &p.last, &p.exclude} {
		*set = mem[i*words : (i+1)*words]
	}
	at := 0
	for rest, more := expr, true; more; {
		var g string
		g, rest, more = strings.Cut(rest, ",")
		g = strings.TrimSpace(g)
		g, exclude := strings.CutPrefix(g, "-")
		if g == "" {
			return Filter{}, fmt.Errorf("filter %q: a pattern is empty; write for example \"store.*,-store.mu\"", expr)
		}
		put(p.first, at)
		for g != "" {
			c, w := char(g)
			g = g[w:]
			switch c {
			case '*':
				put(p.star, at)
				continue
			case '?':
				put(p.other, at)
			default:
				if p.next[c] == nil {
					p.next[c] = make([]uint64, words)
				}
				put(p.next[c], at)
			}
			at++
		}
		put(p.last, at)
		if exclude {
			put(p.exclude, at)
		} else {
			p.rest = false
		}
		at++
	}
	// Match processes as many words as first has.
	p.first = p.first[:(at+63)/64]
	for _, set := range p.next {
		for i, other := range p.other {
			set[i] |= other
		}
	}
	return Filter{expr, p}, nil
}

func put(set []uint64, at int) { set[at/64] |= 1 << (at % 64) }

// char returns the first character of s and its width. An invalid byte becomes a value outside
// Unicode.
func char(s string) (rune, int) {
	c, w := utf8.DecodeRuneInString(s)
	if c == utf8.RuneError && w == 1 {
		c = utf8.MaxRune + 1 + rune(s[0])
	}
	return c, w
}

// String returns the expression passed to Parse.
func (f Filter) String() string { return f.expr }

// All reports whether f is the zero Filter, which need not be applied.
func (f Filter) All() bool { return f.p == nil }

// MatchFile reports whether f selects a file: by its base name or, if there is a slash in f,
// by its path.
func (f Filter) MatchFile(path string) bool {
	if strings.Contains(f.expr, "/") {
		return f.Match(path)
	}
	return f.Match(path[strings.LastIndexAny(path, `/\`)+1:])
}

// Match reports whether f selects name. It does not allocate.
func (f Filter) Match(name string) bool {
	p := f.p
	if p == nil {
		return true
	}
	var mem [maxWords]uint64
	reached := mem[:copy(mem[:], p.first)]
	for name != "" {
		c, w := char(name)
		name = name[w:]
		next := p.next[c]
		if next == nil {
			next = p.other
		}
		var carry, some uint64
		for i, here := range reached {
			on := here & next[i]
			here = on<<1 | carry | here&p.star[i]
			carry = on >> 63
			some |= here
			reached[i] = here
		}
		if some == 0 {
			return p.rest
		}
	}
	for i := len(reached) - 1; i >= 0; i-- {
		if matched := reached[i] & p.last[i]; matched != 0 {
			return p.exclude[i]>>(bits.Len64(matched)-1)&1 == 0
		}
	}
	return p.rest
}
