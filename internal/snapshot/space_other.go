//go:build !linux

package snapshot

import "os"

// roomFor is not known here: writing tells.
func roomFor(*os.File, int64) error { return nil }
