//go:build !linux

package pool

import "os"

// Remote reports whether a file is on a file system that should not be mapped. Where
// files are not mapped that does not matter.
func Remote(f *os.File) (name string, ok bool) { return "", false }
