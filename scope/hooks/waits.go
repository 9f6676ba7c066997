//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/record"

// These are called by the standard library, by way of the variables that the added file
// sets. A wait goes through it as three numbers.

// wait is called before a goroutine waits for what is at addr.
func wait(addr uintptr, what uint64) (a, b, c int64) {
	w := record.BeginHookedWait(addr, what)
	return w.Loc, w.Start, w.Site
}

// park is wait of a mutex, and is called again where a goroutine that was woken parks again.
func park(addr uintptr, a, b, c int64) (_, _, _ int64) {
	w := record.ParkHooked(addr, record.HookedWait{Loc: a, Start: b, Site: c})
	return w.Loc, w.Start, w.Site
}

// waited is called when it goes on.
func waited(addr uintptr, _ uint64, a, b, c int64) {
	record.EndHookedWait(addr, record.HookedWait{Loc: a, Start: b, Site: c})
}

// unlock is called where a lock is let go of that others wait for.
func unlock(addr uintptr, what uint64) { record.HookedUnlock(addr, what) }

// blocked is called after a goroutine has waited for a channel; see record.HookedBlock.
func blocked(addr uintptr, what uint64, ns int64, of uint32) {
	record.HookedBlock(addr, what, ns, of)
}

// thinOut is given what says how many of the waits for channels blocked is called for.
func thinOut(oneOf *uint32) { record.ThinOut(oneOf) }
