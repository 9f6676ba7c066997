package csv

import (
	"strings"
	"unicode"

	"github.com/scopeview/scopeview/internal/args"
)

// appendCell appends s as a cell, in quotes if a reader of CSV would otherwise not read it
// as one cell.
func appendCell(b []byte, s string, raw bool) []byte {
	s = args.Valid(s)
	if !raw && formula(s) {
		s = "'" + s
	}
	// An empty cell needs no quotes in the middle of a row, some readers drop spaces at an
	// edge, and \. ends the input of PostgreSQL's COPY.
	if s == "" || !strings.ContainsAny(s, ",\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' && s != `\.` {
		return append(b, s...)
	}
	return appendQuoted(b, []byte(s))
}

// formula reports whether a spreadsheet may take the cell for a formula: Excel, LibreOffice
// and Google Sheets decide by the first character, full-width ones included, and some ignore
// a line break, a space or an invisible character before it.
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

// appendQuoted appends s in quotes, with its quotes doubled.
func appendQuoted(b, s []byte) []byte {
	b = append(b, '"')
	done := 0
	for i, c := range s {
		if c == '"' {
			b = append(b, s[done:i+1]...)
			done = i // the second quote is appended with the rest
		}
	}
	b = append(b, s[done:]...)
	return append(b, '"')
}
