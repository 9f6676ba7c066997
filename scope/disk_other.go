//go:build !linux && !scope_off

package scope

const (
	haveDisk = false
	noDisk   = "files are mapped on Linux only"
)
