package show

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name returns a name unchanged if it is safe to print, else quoted with escapes, so that no name
// moves a cursor, changes a title or reverses the line. It also quotes names that begin with a quote or
// have spaces at an end, which nobody would see.
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

// Text escapes what could drive a terminal in a text that holds several names, such as an error.
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

// Base returns the last element of a path of any system.
func Base(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// Place formats a file without its directory, with the line if that is known.
func Place(file string, line int) string {
	switch {
	case file == "":
		return "place not known"
	case line == 0:
		return Base(file)
	}
	return Base(file) + ":" + strconv.Itoa(line)
}
