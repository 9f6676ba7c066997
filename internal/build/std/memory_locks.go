package std

import "github.com/scopeview/scopeview/internal/advice/row"

// Hooks for what is loaded and stored between Lock and Unlock of a sync.Mutex. They note into the buffers of
// loads and stores, so that the order of all is known.

// sectioning has the runtime note what begins and ends a section, and stores that the compiler puts no call
// before, each with a size that no access has.
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

// sections is what package sync notes with: Lock calls it itself, as its caller is where the section begins.
var sections = code{dir: "sync", text: `//go:linkname scopeviewAccess runtime.scopeviewAccess
var scopeviewAccess [8]uintptr

//go:noescape
//go:linkname scopeviewLocked runtime.scopeviewLocked
func scopeviewLocked(m *Mutex)

//go:noescape
//go:linkname scopeviewUnlocks runtime.scopeviewUnlocks
func scopeviewUnlocks(m *Mutex)`}

// storing is what maps note with that they are stored to.
var storing = code{dir: "internal/runtime/maps", imports: []string{"unsafe"}, text: `//go:linkname scopeviewAccess runtime.scopeviewAccess
var scopeviewAccess [8]uintptr

//go:noescape
//go:linkname scopeviewStores runtime.scopeviewStores
func scopeviewStores(addr unsafe.Pointer)`}

// mutexWaits has a wait told of with its call stack, and how many others wait still. Of one mutex's waits
// some are, where they are many.
var mutexWaits = code{dir: "internal/sync", imports: []string{"unsafe"}, text: `func scopeviewMutexWait(m *Mutex, ns int64) {
	scopeviewThin(` + number(row.MutexWait) + `, uintptr(unsafe.Pointer(m)), ` + untyped + `, uintptr(unsafe.Pointer(m)), uintptr(ns), uintptr(m.state>>mutexWaiterShift), 0, 0, 0, 0)
}`}

// stored has the edits of map operations note stores.
func stored(list []edit) []edit {
	for i := range list {
		list[i].insert = "if scopeviewAccess[0] != 0 && m != nil { scopeviewStores(unsafe.Pointer(m)) }; "
	}
	return list
}

// sectionHook tells of sections: it is one of loads and stores.
var sectionHook = adviceHook("mutexuse", Memory, "what is done while a sync.Mutex is locked, in bursts, and who waits for it", concat(
	[]edit{
		{file: "sync/mutex.go", function: "Mutex.Lock", at: "m.mu.Lock()", behind: true, insert: "; if scopeviewAccess[0] != 0 { scopeviewLocked(m) }"},
		{file: "sync/mutex.go", function: "Mutex.TryLock", at: "return m.mu.TryLock()", instead: true,
			insert: "scopeviewOK := m.mu.TryLock(); if scopeviewOK && scopeviewAccess[0] != 0 { scopeviewLocked(m) }; return scopeviewOK"},
		{file: "sync/mutex.go", function: "Mutex.Unlock", at: "m.mu.Unlock()", insert: "if scopeviewAccess[0] != 0 { scopeviewUnlocks(m) }; "},
		{file: "internal/sync/mutex.go", function: "Mutex.lockSlow", at: "if race.Enabled {",
			insert: "if waitStartTime != 0 && scopeviewTold != nil { scopeviewMutexWait(m, runtime_nanotime()-waitStartTime) }; "},
		{file: "runtime/slice.go", function: "slicecopy", at: "if raceenabled {", insert: "if scopeviewAccess[0] != 0 { scopeviewStores(toPtr) }; "},
		{file: "runtime/mbarrier.go", function: "typedslicecopy", at: "if raceenabled {", insert: "if scopeviewAccess[0] != 0 { scopeviewStores(dstPtr) }; "},
	},
	stored(mapWrites()),
), []variable{toldIn("internal/sync")}, sectioning, sections, storing, tells("internal/sync"), mutexWaits)
