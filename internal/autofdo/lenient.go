package autofdo

import (
	"regexp"
	"strings"
)

// Lines with blanks where LLVM accepts none, or with another number of them.
var (
	looseLine = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)[ \t]*:[ \t]*(.+)$`)
	looseHead = regexp.MustCompile(`^(.*?)[ \t]*:[ \t]*([0-9]+)[ \t]*:[ \t]*([0-9]+)$`)
	looseCall = regexp.MustCompile(`[ \t]*:[ \t]*([0-9]+)([ \t]|$)`) // the count of a target
	looseEnd  = regexp.MustCompile(`^(.*?)[ \t]*:[ \t]*([0-9]+)$`)
)

const byteOrderMark = "\ufeff"

// forgive returns a line in the strict form, and warns if it differs. It forgives blanks too
// many or too few around names, numbers and colons, tabs, blank lines, lines that are not
// indented, a byte order mark, and LLVM's newer !Flat. It returns other faulty lines
// unchanged.
func (r *reader) forgive(s string) string {
	if r.line == 1 && strings.HasPrefix(s, byteOrderMark) {
		r.warn("forgiven: a byte order mark, which Clang reads as a part of the name")
		s = s[len(byteOrderMark):]
	}
	rest := strings.TrimLeft(s, " \t")
	text := strings.TrimRight(rest, " \t\r\v\f")
	if text == "" || text[0] == '#' || text == "!Flat" {
		switch {
		case text == "!Flat":
			r.warn("forgiven: !Flat, which only newer versions of Clang read")
		case text == "" && s != "":
			r.warn("forgiven: a blank line")
		}
		return ""
	}
	strict := loosen(text, len(s)-len(rest), len(r.stack) > 0)
	if strict != s {
		r.warn("forgiven: Clang does not read " + found(s) + " as " + found(strict))
	}
	return strict
}

// loosen returns the strict form of a line without blanks at its ends.
func loosen(text string, depth int, inside bool) string {
	indent := strings.Repeat(" ", max(depth, 1))
	if text[0] == '!' && inside {
		return indent + text
	}
	if m := looseLine.FindStringSubmatch(text); m != nil && inside {
		line := indent + m[1] + ": " + m[2]
		if end := looseEnd.FindStringSubmatch(m[2]); end != nil && !digit(m[2][0]) {
			line = indent + m[1] + ": " + end[1] + ":" + end[2]
		} else if digit(m[2][0]) {
			count, targets, _ := strings.Cut(strings.ReplaceAll(m[2], "\t", " "), " ")
			line = strings.TrimRight(indent+m[1]+": "+count+" "+looseCall.ReplaceAllString(targets, ":$1$2"), " ")
		}
		if _, ok := parseLine(line); ok {
			return line
		}
	}
	if m := looseHead.FindStringSubmatch(text); m != nil {
		return m[1] + ":" + m[2] + ":" + m[3]
	}
	if depth > 0 {
		return indent + text
	}
	return text
}
