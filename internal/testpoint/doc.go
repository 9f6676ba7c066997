// Package testpoint names points between two steps of a protocol, at which a test can kill
// the program, or stop one goroutine while others continue.
//
// Without the build tag scope_testpoint, Here is an empty function, which the compiler
// inlines to nothing, and the package contains nothing else. With it, the environment
// variable SCOPEVIEW_TESTPOINTS has the actions, a list of
//
//	name:nth:action
//
// separated by commas. The action is taken when the point of that name is passed for the nth
// time (from 1 on):
//
//	kill   the process is killed, as by kill -9
//	park   the goroutine stays there for good; the point's name and a newline are
//	       written to the descriptor SCOPEVIEW_TESTPOINTS_FD before
//	pass   only that is written
//
// # Where there are no points
//
// The assembly, and the Go path's usual scope, have none. Their steps are a few instructions
// each, and a point between two of them would change the tested code: the assembler has no
// build tags within a file, a point there would need registers of its own, and even a jump
// that is never taken would be part of the product. Instead a test executes one writer
// instruction by instruction (internal/testing/step, by ptrace) and stops it at any point,
// while the other threads run at full speed. That needs no change of the product, tests
// exactly the code that is shipped, and covers every step, because every instruction is one.
//
// That does not work for the rest: the thread of the flusher is not known in advance, and
// its steps are a few system calls between thousands of irrelevant instructions.
package testpoint
