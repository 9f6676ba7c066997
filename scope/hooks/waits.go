//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/record"

// The standard library calls the functions below through the variables that the added file
// sets. It passes a wait on as three numbers.

// wait is called before a goroutine waits for the object at addr.
func wait(addr uintptr, what uint64) (a, b, c int64) {
	w := record.BeginHookedWait(addr, what)
	return w.Loc, w.Start, w.Site
}

// park is wait for a mutex. It is called again when a woken goroutine parks again.
func park(addr uintptr, a, b, c int64) (_, _, _ int64) {
	w := record.ParkHooked(addr, record.HookedWait{Loc: a, Start: b, Site: c})
	return w.Loc, w.Start, w.Site
}

// waited is called when the goroutine continues.
func waited(addr uintptr, _ uint64, a, b, c int64) {
	record.EndHookedWait(addr, record.HookedWait{Loc: a, Start: b, Site: c})
}

// unlock is called when a lock is released for which others wait.
func unlock(addr uintptr, what uint64) { record.HookedUnlock(addr, what) }

// blocked is called after a goroutine has waited on a channel; see record.HookedBlock.
func blocked(addr uintptr, what uint64, ns int64, of uint32) {
	record.HookedBlock(addr, what, ns, of)
}

// thinOut receives the address of the sampling rate: blocked is called for one of *oneOf
// waits on channels.
func thinOut(oneOf *uint32) { record.ThinOut(oneOf) }
