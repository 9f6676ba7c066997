//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/record"

// inHeap receives the address from which the runtime reads how many bytes of the
// heap are the recorder's.
func inHeap(bytes *uint64) { record.TellHeap(bytes) }
