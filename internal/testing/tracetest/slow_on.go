//go:build race

package tracetest

// slowdown is the factor by which instrumentation slows down.
const slowdown = 20
