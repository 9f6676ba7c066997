package analysis

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Show formats a name for people: unchanged if it is harmless, otherwise quoted with
// escapes, so that no name moves a cursor, changes a title or reverses the line. A name that
// looks quoted, or that begins or ends with a space, is quoted too.
func Show(name string) string {
	if name == "" || name[0] == '"' || name[0] == ' ' || name[len(name)-1] == ' ' || !graphic(name) {
		return strconv.QuoteToGraphic(name)
	}
	return name
}

func graphic(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsGraphic(r) {
			return false
		}
	}
	return true
}

// Harmless returns a text of several names, such as an error, with escapes for anything that
// could control a terminal.
func Harmless(s string) string {
	if graphic(s) {
		return s
	}
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if graphic(line) {
			b.WriteString(line)
			continue
		}
		q := strconv.QuoteToGraphic(line)
		b.WriteString(strings.NewReplacer(`\"`, `"`, `\t`, "\t").Replace(q[1 : len(q)-1]))
	}
	return b.String()
}
