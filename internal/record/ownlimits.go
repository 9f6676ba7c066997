//go:build !scope_off

package record

import (
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
)

// # The process's own limits
//
// Addresses (RLIMIT_AS, ulimit -v) and data (RLIMIT_DATA) that the recorder reserves are not
// available to the program, and Go exits when it gets none. Mapped chunks take addresses for
// everything ever recorded. So if such a limit is set, chunks are mapped only if that takes
// a small part of what the limit leaves. Else chunks are in Go's heap, where they take only
// what waits to be written. Either way at least as much as the program has now is left to
// it.

const (
	// ownPart is the inverse of the part of the remaining addresses that the recorder may
	// take.
	ownPart = 8
	// tables is the size of the assembly path's tables.
	tables = 72 << 20
	// arena is the minimum by which Go's heap grows.
	arena = 64 << 20
)

// ownLimits selects the place of chunks according to the process's own limits.
func (r *recorder) ownLimits(po *pool.Options) (tight string, err error) {
	o, own := &r.opts, r.sampler.Own
	if o.ring > 0 {
		po.Addresses = pool.RingAddresses(o.ring + o.segBytes*pool.HeldMost)
	} else if po.Addresses = o.limit; o.limit == NoLimit {
		po.Addresses = pool.MaxAddresses
	}
	left, wants := min(own.Addresses, own.Data), po.Addresses+tables
	if haveDisk && o.backing != format.BackingHeap {
		if wants <= own.Addresses/ownPart && tables <= own.Data/ownPart && own.Leaves(wants, tables) {
			return "", nil
		}
		tight = errOwn(left, wants*ownPart, own.Has).Error()
		if o.backingSet {
			return "", errors.New(tight)
		}
		o.backing, o.backingSet = format.BackingHeap, true
	}
	po.Memory = min(po.Memory, left/waitPart)
	if wants = 2*po.Memory + arena; !own.Leaves(wants, wants) {
		return "", errOwn(left, wants+own.Has, own.Has)
	}
	return tight, nil
}

func errOwn(left, wants, has int64) error {
	return fmt.Errorf("ulimit -v or -d leaves too little memory to record: %d MiB of the %d MiB needed, most of them for the program, which uses %d MiB: raise it, or use the heap backing", left>>20, wants>>20, has>>20)
}

// memoryLeft returns the memory that all limits leave; for Go's heap that includes the
// process's own.
func (r *recorder) memoryLeft(heap bool) int64 {
	left := r.sampler.MemoryLeft
	if heap {
		left = min(left, r.sampler.Own.Addresses, r.sampler.Own.Data)
	}
	return left
}
