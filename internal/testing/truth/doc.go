// Package truth holds what scopeview says of programs that were not written for it against what
// Linux's perf says of the same runs. make truth runs it.
package truth
