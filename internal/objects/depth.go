package objects

import (
	"errors"
	"go/scanner"
	"go/token"
)

// deepest limits how deep a file may nest, in tokens. Walking over the syntax tree takes a
// stack frame for each level, and a stack overflow would crash the program.
const deepest = 20_000

var errDeep = errors.New("the source nests too deep")

// deep reports whether a file nests deeper than that: by its brackets, by its else branches,
// and by the tokens of an expression, each of which may be an operator.
func deep(src []byte) bool {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, func(token.Position, string) {}, 0)
	run, open := 0, []int{} // tokens of the current expression or statement, and of those around it
	for {
		_, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			return false
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, run+1)
			run++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if n := len(open); n > 0 { // the contents of brackets are not deeper than what follows them
				run, open = open[n-1]+1, open[:n-1]
			}
		case token.COMMA, token.SEMICOLON, token.COLON:
			if run = 0; len(open) > 0 {
				run = open[len(open)-1]
			}
		default:
			run++
		}
		if run > deepest {
			return true
		}
	}
}
