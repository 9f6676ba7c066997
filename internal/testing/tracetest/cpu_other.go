//go:build !unix

package tracetest

import "time"

var began = time.Now()

// worked returns the age of this process: its CPU time is not known here.
func worked() time.Duration { return time.Since(began) }
