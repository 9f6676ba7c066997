//go:build !linux

package outside

import (
	"context"
	"errors"
)

// Record returns an error: it is only implemented on Linux.
func Record(context.Context, Options) (*Result, error) {
	return nil, errors.New("recording from outside is supported on Linux only: record from within with scope.Start, or give scopeview functions a profile of go test -cpuprofile")
}
