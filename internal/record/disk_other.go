//go:build !linux && !scope_off

package record

const (
	haveDisk = false
	noDisk   = "files are mapped only on Linux"
)
