//go:build !unix

package tracetest

import "time"

var began = time.Now()

// worked is how long this process has been there, where its CPU time can't be told.
func worked() time.Duration { return time.Since(began) }
