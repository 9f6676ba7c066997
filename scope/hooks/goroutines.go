//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/record"

// made is called by a goroutine that has made another one, which begins with the function at
// entry. Of the place of its go statement nothing is recorded yet.
func made(child uint64, entry, _ uintptr) { record.Made(child, entry) }
