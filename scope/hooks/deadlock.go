//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/record"

// asleep is given what reports whether the program has come to a deadlock.
func asleep(f func() bool) {
	isAsleep = f
	record.TellAsleep(f)
}

// isAsleep is that; nil: nobody knows.
var isAsleep func() bool
