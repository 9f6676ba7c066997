package objects

import (
	"errors"
	"go/scanner"
	"go/token"
)

// deepest is how deep a file may nest, in tokens. Who walks over it has a frame on the stack
// for each, and no program survives a stack that is too large.
const deepest = 20_000

var errDeep = errors.New("the source nests too deep")

// deep reports whether a file nests deeper than that: by its brackets, by its else, and by the
// tokens of an expression, each of which may be an operator.
func deep(src []byte) bool {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, func(token.Position, string) {}, 0)
	run, open := 0, []int{} // what an expression or a statement has so far, and what those around it have
	for {
		_, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			return false
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, run+1)
			run++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if n := len(open); n > 0 { // what is in it is not deeper than what follows it
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
