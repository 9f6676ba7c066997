package query

import (
	"errors"
	"strings"
)

// statementOf returns the only statement of a text, without what follows it, and whether it is
// EXPLAIN.
func statementOf(text string) (statement string, explains bool, err error) {
	if strings.IndexByte(text, 0) >= 0 {
		return "", false, errors.New("a question can't contain a zero byte")
	}
	first := begin(text)
	if first == len(text) {
		return "", false, errors.New("there is no question: write a SELECT")
	}
	end := endOf(text, first)
	if begin(strings.TrimLeft(text[end:], ";")) < len(strings.TrimLeft(text[end:], ";")) {
		return "", false, errors.New("there is more than one statement: ask one question at a time")
	}
	word := text[first:]
	if n := strings.IndexFunc(word, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }); n >= 0 {
		word = word[:n]
	}
	switch strings.ToUpper(word) {
	case "SELECT", "WITH", "VALUES":
	case "EXPLAIN":
		explains = true
	default:
		return "", false, errors.New("a question only reads: it begins with SELECT, WITH, VALUES or EXPLAIN")
	}
	return text[first:end], explains, nil
}

// begin returns the offset behind leading space, comments and empty statements.
func begin(text string) int {
	for i := 0; i < len(text); {
		switch {
		case strings.IndexByte(" \t\r\n\f;", text[i]) >= 0:
			i++
		case comment(text[i:]) > 0:
			i += comment(text[i:])
		default:
			return i
		}
	}
	return len(text)
}

// endOf returns the offset of the semicolon that ends the statement at i, or the text's length.
func endOf(text string, i int) int {
	for i < len(text) {
		switch c := text[i]; {
		case c == ';':
			return i
		case c == '\'' || c == '"' || c == '`' || c == '[':
			if c == '[' {
				c = ']'
			}
			// A doubled quote is two quoted texts side by side here, which end at the same place.
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return len(text)
			}
			i += n + 2
		case comment(text[i:]) > 0:
			i += comment(text[i:])
		default:
			i++
		}
	}
	return len(text)
}

// comment returns the length of the comment at the beginning of text; 0: there is none.
func comment(text string) int {
	end := ""
	switch {
	case strings.HasPrefix(text, "--"):
		end = "\n"
	case strings.HasPrefix(text, "/*"):
		end = "*/"
	default:
		return 0
	}
	if n := strings.Index(text[2:], end); n >= 0 {
		return 2 + n + len(end)
	}
	return len(text)
}
