//go:build race

package tracetest

// slowdown is by how much instrumentation slows down.
const slowdown = 20
