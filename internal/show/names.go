package show

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name is a name as it is shown to people: as it is if it is harmless, else
// quoted with escapes, so that no name moves a cursor, changes a title or
// reverses the line. A name that looks quoted, or whose edges would not be seen,
// is quoted too.
func Name(name string) string {
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

// Text is a text of several names, such as an error, with what could drive
// a terminal escaped.
func Text(s string) string {
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

// Base is the last element of a path of any system.
func Base(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// Place is a file without its directory, and a line, if that is known.
func Place(file string, line int) string {
	switch {
	case file == "":
		return "place not known"
	case line == 0:
		return Base(file)
	}
	return Base(file) + ":" + strconv.Itoa(line)
}
