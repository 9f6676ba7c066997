package std

import "github.com/scopeview/scopeview/internal/advice/row"

// Hooks for loads and stores between Lock and Unlock of a sync.Mutex. They record into the
// buffers of loads and stores, to keep the order of all.

// sectioning has the runtime's functions that record the begin and the end of a section, and
// stores without the compiler's call, each with a special size.
var sectioning = code{dir: "runtime", imports: []string{"unsafe", "internal/runtime/sys"}, text: `//go:linkname scopeviewLocked
//go:nosplit
func scopeviewLocked(m unsafe.Pointer) {
	scopeviewAccessed(uintptr(m), sys.GetCallerPC(), 0x7ffe<<1)
}

//go:linkname scopeviewUnlocks
//go:nosplit
func scopeviewUnlocks(m unsafe.Pointer) {
	scopeviewAccessed(uintptr(m), sys.GetCallerPC(), 0x7ffe<<1|1)
}

//go:linkname scopeviewStores
//go:nosplit
func scopeviewStores(addr unsafe.Pointer) {
	scopeviewAccessed(uintptr(addr), sys.GetCallerPC(), 0x7ffd<<1|1)
}`}

// sections declares them in package sync: Lock calls them directly, as the section begins in
// its caller.
var sections = code{dir: "sync", text: `//go:linkname scopeviewAccess runtime.scopeviewAccess
var scopeviewAccess [8]uintptr

//go:noescape
//go:linkname scopeviewLocked runtime.scopeviewLocked
func scopeviewLocked(m *Mutex)

//go:noescape
//go:linkname scopeviewUnlocks runtime.scopeviewUnlocks
func scopeviewUnlocks(m *Mutex)`}

// storing declares the function with which maps record stores.
var storing = code{dir: "internal/runtime/maps", imports: []string{"unsafe"}, text: `//go:linkname scopeviewAccess runtime.scopeviewAccess
var scopeviewAccess [8]uintptr

//go:noescape
//go:linkname scopeviewStores runtime.scopeviewStores
func scopeviewStores(addr unsafe.Pointer)`}

// mutexWaits reports a wait with its call stack, and the number of other waiters. If there
// are many waits of a mutex, they are sampled.
var mutexWaits = code{dir: "internal/sync", imports: []string{"unsafe"}, text: `func scopeviewMutexWait(m *Mutex, ns int64) {
	scopeviewThin(` + number(row.MutexWait) + `, uintptr(unsafe.Pointer(m)), ` + untyped + `, uintptr(unsafe.Pointer(m)), uintptr(ns), uintptr(m.state>>mutexWaiterShift), 0, 0, 0, 0)
}`}

// stored changes the edits of map operations to record stores.
func stored(list []edit) []edit {
	for i := range list {
		list[i].insert = "if scopeviewAccess[0] != 0 && m != nil { scopeviewStores(unsafe.Pointer(m)) }; "
	}
	return list
}

// sectionHook is the hook for sections, one of those for loads and stores.
var sectionHook = adviceHook("mutexuse", Memory, "operations while a sync.Mutex is locked, in bursts, and its waiters", concat(
	[]edit{
		{file: "sync/mutex.go", function: "Mutex.Lock", at: "m.mu.Lock()", behind: true, insert: "; if scopeviewAccess[0] != 0 { scopeviewLocked(m) }"},
		{file: "sync/mutex.go", function: "Mutex.TryLock", at: "return m.mu.TryLock()", instead: true,
			insert: "scopeviewOK := m.mu.TryLock(); if scopeviewOK && scopeviewAccess[0] != 0 { scopeviewLocked(m) }; return scopeviewOK"},
		{file: "sync/mutex.go", function: "Mutex.Unlock", at: "m.mu.Unlock()", insert: "if scopeviewAccess[0] != 0 { scopeviewUnlocks(m) }; "},
		{file: "internal/sync/mutex.go", function: "Mutex.lockSlow", at: "if race.Enabled {",
			insert: "if waitStartTime != 0 && scopeviewCounter != nil { scopeviewMutexWait(m, runtime_nanotime()-waitStartTime) }; "},
		{file: "runtime/slice.go", function: "slicecopy", at: "if raceenabled {", insert: "if scopeviewAccess[0] != 0 { scopeviewStores(toPtr) }; "},
		{file: "runtime/mbarrier.go", function: "typedslicecopy", at: "if raceenabled {", insert: "if scopeviewAccess[0] != 0 { scopeviewStores(dstPtr) }; "},
	},
	stored(mapWrites()),
), []variable{counterIn("internal/sync")}, sectioning, sections, storing, reports("internal/sync"), mutexWaits)
