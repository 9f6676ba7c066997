//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/record"

// made is called on a goroutine that has created another one, whose entry function is at
// entry. The place of the go statement is not recorded yet.
func made(child uint64, entry, _ uintptr) { record.Made(child, entry) }
