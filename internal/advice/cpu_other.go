//go:build !linux

package advice

import "runtime"

// CPU is the model of this machine's processors, as far as it is known.
func CPU() string { return runtime.GOOS + "/" + runtime.GOARCH }
