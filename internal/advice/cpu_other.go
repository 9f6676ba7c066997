//go:build !linux

package advice

import "runtime"

// CPU returns the platform, as the processor's model is not known.
func CPU() string { return runtime.GOOS + "/" + runtime.GOARCH }
