//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/record"

// asleep receives the function that reports whether the program is deadlocked.
func asleep(f func() bool) {
	isAsleep = f
	record.TellAsleep(f)
}

// isAsleep is that function; nil if there is none.
var isAsleep func() bool
