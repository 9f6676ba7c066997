package csv

import (
	"strings"
	"unicode"

	"github.com/scopeview/scopeview/internal/args"
)

// appendCell appends s as a cell: as it is, or in quotes where a reader of CSV
// would take it for more than a cell.
func appendCell(b []byte, s string, raw bool) []byte {
	s = args.Valid(s)
	if !raw && formula(s) {
		s = "'" + s
	}
	// A lone quoted-empty cell means nothing in the middle of a row, blanks at an
	// edge are lost by some readers, and \. ends the input of PostgreSQL's COPY.
	if s == "" || !strings.ContainsAny(s, ",\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' && s != `\.` {
		return append(b, s...)
	}
	return appendQuoted(b, []byte(s))
}

// formula reports whether a spreadsheet may take the cell for a formula: Excel,
// LibreOffice and Google Sheets go by the first character, in full width too
// where that is how one writes, and some drop a line break, a blank or what has
// no shape before it.
func formula(s string) bool {
	if s != "" && strings.IndexByte("\t\r\n", s[0]) >= 0 {
		return true
	}
	for _, r := range s {
		switch r {
		case '=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20':
			return true
		}
		if r != ' ' && !unicode.In(r, unicode.Cc, unicode.Cf) {
			break
		}
	}
	return false
}

// appendQuoted appends s in quotes, those in it doubled.
func appendQuoted(b, s []byte) []byte {
	b = append(b, '"')
	done := 0
	for i, c := range s {
		if c == '"' {
			b = append(b, s[done:i+1]...)
			done = i // the second quote comes with what follows
		}
	}
	b = append(b, s[done:]...)
	return append(b, '"')
}
