package autofdo

import "strings"

// The forms that LLVM expects of a function's first line, and of the others.
const (
	headForm = "mangled_name:NUM:NUM"
	lineForm = "NUM[.NUM]: NUM[ mangled_name:NUM]*"
)

type kind int

const (
	body kind = iota
	inlinee
	checksum
	attributes
)

// entry is a line of a function.
type entry struct {
	kind    kind
	depth   int // blanks before it
	at      Loc
	samples uint64 // or the checksum, or the attributes
	name    string // for an inlinee
	targets []target
}

type target struct {
	name  string
	count uint64
}

// parseHead parses the first line of a function: name, total and head. LLVM searches two
// colons from the right. If one is missing it uses the text that it has for all three; whole
// reports that both are there.
func parseHead(s string) (name string, total, head uint64, whole, ok bool) {
	if s == "" || s[0] == ' ' {
		return "", 0, 0, false, false
	}
	second := strings.LastIndexByte(s, ':')
	first := -1
	switch {
	case second == 0:
		first = 0
	case second > 0:
		first = strings.LastIndexByte(s[:second-1], ':')
	}
	name, totals := s, s
	if first >= 0 {
		name = s[:first]
	}
	if second > 0 {
		totals = s[first+1 : second]
	} else if second == 0 {
		totals = s[1:]
	}
	total, ok = number(totals, 64)
	head, ok2 := number(s[second+1:], 64)
	return name, total, head, first < second && first >= 0, ok && ok2
}

// parseLine parses another line of a function. LLVM skips the byte after the colon without
// checking that it is a blank, and so may lose a digit.
func parseLine(s string) (e entry, ok bool) {
	rest := strings.TrimLeft(s, " ")
	e.depth = len(s) - len(rest)
	if e.depth == 0 {
		return e, false
	}
	if strings.HasPrefix(rest, "!") {
		return e, e.metadata(rest)
	}
	position, rest, found := strings.Cut(rest, ": ")
	if !found || !parseLoc(position, &e.at) {
		return e, false
	}
	if rest == "" || !digit(rest[0]) {
		e.kind = inlinee
		colon := strings.LastIndexByte(rest, ':')
		if colon < 0 {
			return e, false
		}
		e.name = rest[:colon]
		e.samples, ok = number(rest[colon+1:], 64)
		return e, ok
	}
	count, rest, more := strings.Cut(rest, " ")
	if e.samples, ok = number(count, 64); ok && more {
		e.targets, ok = parseTargets(rest)
	}
	return e, ok
}

func (e *entry) metadata(s string) (ok bool) {
	size := 64
	if s, ok = strings.CutPrefix(s, "!CFGChecksum:"); ok {
		e.kind = checksum
	} else if s, ok = strings.CutPrefix(s, "!Attributes:"); ok {
		e.kind, size = attributes, 32
	} else {
		return false
	}
	e.samples, ok = number(strings.Trim(s, " \t\n\v\f\r"), size)
	return ok
}

// parseTargets parses callees and their counts. A name may have blanks and colons: it ends
// at the first colon that is followed by a number and then a blank or the end.
func parseTargets(s string) (list []target, ok bool) {
	for {
		s = strings.TrimLeft(s, " ")
		colon := strings.IndexByte(s, ':')
		if colon <= 0 {
			return nil, false
		}
		for {
			end := colon + 1
			for end < len(s) && digit(s[end]) {
				end++
			}
			if end == len(s) || s[end] == ' ' {
				if n, ok := number(s[colon+1:end], 64); ok {
					list = append(list, target{s[:colon], n})
					if end == len(s) {
						return list, true
					}
					s = s[end+1:]
					break
				}
			}
			next := strings.IndexByte(s[colon+1:], ':')
			if next < 0 {
				return nil, false
			}
			colon += next + 1
		}
	}
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
