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
// Addresses (RLIMIT_AS, ulimit -v) and data (RLIMIT_DATA) that we reserve are none that the
// program can have, and Go ends a program that gets none. Chunks that are mapped take
// addresses for all that is ever recorded. So where such a limit is set, they are mapped
// only if that is a small part of what the limit leaves. Else chunks are in Go's heap, where
// they take what waits to be written. Either way the program is left as much as it has.

const (
	// ownPart is which part of what is left may be addresses of ours.
	ownPart = 8
	// tables is what the assembly path's tables take.
	tables = 72 << 20
	// arena is what Go's heap grows by at least.
	arena = 64 << 20
)

// ownLimits chooses where chunks are by what the process's own limits leave.
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
	return fmt.Errorf("ulimit -v or -d leaves too little memory to record: %d MiB, and %d MiB are wanted, of which most is for the program, which has %d MiB: raise it, or use the heap backing", left>>20, wants>>20, has>>20)
}

// memoryLeft is what all limits leave of memory; in Go's heap the process's own count too.
func (r *recorder) memoryLeft(heap bool) int64 {
	left := r.sampler.MemoryLeft
	if heap {
		left = min(left, r.sampler.Own.Addresses, r.sampler.Own.Data)
	}
	return left
}
