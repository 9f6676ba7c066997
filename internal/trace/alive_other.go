//go:build !linux && !darwin

package trace

import "os"

// WriterAlive reports whether the process that writes the trace f still does.
// On this system that can't be asked.
func WriterAlive(f *os.File) (alive, known bool) { return false, false }
