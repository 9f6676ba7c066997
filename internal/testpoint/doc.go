// Package testpoint names the points between two steps of a protocol, at which a
// test can have the program killed, or one goroutine stay while others go on.
//
// Without the build tag scope_testpoint Here is an empty function, which the
// compiler inlines to nothing, and the package holds nothing else. With it the
// environment variable SCOPEVIEW_TESTPOINTS says what happens where: a list of
//
//	name:nth:action
//
// with commas between them. The action is taken when the point of that name is
// passed for the nth time (from 1 on):
//
//	kill   the process is killed, as by kill -9
//	park   the goroutine stays there for good; the point's name and a newline are
//	       written to the descriptor SCOPEVIEW_TESTPOINTS_FD before
//	pass   only that is written
//
// # Where there are no points
//
// The assembly, and the Go path's usual scope, have none. Their steps are a few
// instructions each, and a point between two of them would change what is to be
// tested: the assembler knows no build tags within a file, a point there would need
// registers of its own, and even a jump that is never taken would stand in the
// product. Instead a test executes one writer instruction by instruction
// (internal/testing/step, by ptrace) and leaves it stopped wherever it likes, while
// the other threads run at full speed. That takes no change of the product, tests
// the very code that is shipped, and leaves no step out, because every instruction
// is one.
//
// That is not the way for all else: which thread the flusher runs on is not known
// before, and its steps are system calls, of which there are few, between thousands
// of instructions that mean nothing.
package testpoint
