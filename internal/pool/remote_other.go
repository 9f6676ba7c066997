//go:build !linux

package pool

import "os"

// Remote reports whether a file is on a file system that should not be mapped. Files are never
// mapped here, so it returns false.
func Remote(f *os.File) (name string, ok bool) { return "", false }
