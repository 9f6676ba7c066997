package std

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// Hooks for advice. A build includes those of its groups.

// Groups of diagnostics, as in the option of a build.
const (
	Containers    = "containers"
	Algorithms    = "algorithms"
	Strings       = "strings"
	Allocations   = "allocations"
	InputOutput   = "io"
	Multithreaded = "multithreaded"
	Locality      = "locality"
)

// Groups are all groups.
var Groups = []string{Containers, Algorithms, Strings, Allocations, InputOutput, Multithreaded, Locality}

// advising has the runtime's functions that call package count. They do nothing on a
// thread's own stack, or while a lock of the runtime is held; and as package count runs with
// the goroutine pinned, nor for its own operations. A goroutine is pinned as everywhere in
// the runtime.
var advising = code{dir: "runtime", imports: []string{"unsafe"}, text: `//go:linkname scopeviewReport
func scopeviewReport(what uint32, a0, a1, a2, a3, a4, a5, a6 uintptr) {
	counter := scopeviewCounter
	mp := acquirem()
	if counter == nil || getg() != mp.curg || mp.locks != 1 || mp.mallocing != 0 || mp.dying != 0 {
		releasem(mp)
		return
	}
	var pcs [40]uintptr
	n := 0
	if framepointer_enabled {
		var wrong bool
		n = scopeviewWalk(getg(), &wrong, unsafe.Pointer(getfp()), pcs[:])
	} else {
		n = callers(1, pcs[:])
	}
	a := [8]uintptr{a0, a1, a2, a3, a4, a5, a6}
	counter(what, (*[8]uintptr)(noescape(unsafe.Pointer(&a))), unsafe.Slice((*uintptr)(noescape(unsafe.Pointer(&pcs))), n))
	releasem(mp)
}

// scopeviewThin reports a sample of the creations at a place of the code, pc. It marks the types of those
// that it skips.
//
//go:linkname scopeviewThin
func scopeviewThin(what uint32, pc, typ, a0, a1, a2, a3, a4, a5, a6 uintptr) {
	place := uint32(uint64(pc) * 0x9e3779b97f4a7c15 >> 52)
	rate := scopeviewRates[place]
	if rate != 0 && cheaprand()&(1<<rate-1) != 0 {
		if s := &scopeviewSkipped[uint16(typ>>5)]; *s == 0 {
			*s = 1
		}
		return
	}
	scopeviewReport(what|uint32(rate)<<8|(place+1)<<16, a0, a1, a2, a3, a4, a5, a6)
}

// scopeviewUse reports a sample of the operations on objects that are followed.
//
//go:linkname scopeviewUse
func scopeviewUse(what uint32, a0, a1, a2 uintptr) {
	if cheaprand()&scopeviewMask != 0 {
		return
	}
	counter := scopeviewCounter
	mp := acquirem()
	if counter != nil && getg() == mp.curg && mp.locks == 1 && mp.mallocing == 0 && mp.dying == 0 {
		a := [8]uintptr{a0, a1, a2}
		counter(what, (*[8]uintptr)(noescape(unsafe.Pointer(&a))), nil)
	}
	releasem(mp)
}

// scopeviewGrows reports the growth of an array, unless it is not followed and creations of its type were
// skipped: in a program that makes many arrays, most are such.
func scopeviewGrows(old, p unsafe.Pointer, oldLen, newLen, oldCap, newCap int, et *_type) {
	if scopeviewSkipped[uint16(uintptr(unsafe.Pointer(et))>>5)] != 0 {
		h := uint64(uintptr(old)) * 0x9e3779b97f4a7c15
		if scopeviewFollowed[h>>51]&(1<<(h>>45&63)) == 0 {
			return
		}
	}
	scopeviewReport(` + number(row.GrowSlice) + `, uintptr(old), uintptr(p), uintptr(oldLen), uintptr(newLen), uintptr(oldCap), uintptr(newCap), uintptr(unsafe.Pointer(et)))
}

// scopeviewOnStack reports whether an array lies on the goroutine's own stack: then no array of it was
// ever allocated.
func scopeviewOnStack(p unsafe.Pointer) bool {
	gp := getg()
	return gp.stack.lo <= uintptr(p) && uintptr(p) < gp.stack.hi
}

// scopeviewNote reports an event without its call stack. It never skips one: an object that is followed
// would be lost.
//
//go:linkname scopeviewNote
func scopeviewNote(what uint32, a0, a1, a2, a3, a4, a5 uintptr) {
	counter := scopeviewCounter
	mp := acquirem()
	if counter != nil && getg() == mp.curg && mp.locks == 1 && mp.mallocing == 0 && mp.dying == 0 {
		a := [8]uintptr{a0, a1, a2, a3, a4, a5}
		counter(what, (*[8]uintptr)(noescape(unsafe.Pointer(&a))), nil)
	}
	releasem(mp)
}

//go:linkname scopeviewClock
func scopeviewClock() int64 { return nanotime() }

//go:linkname scopeviewPin
func scopeviewPin() { acquirem() }

//go:linkname scopeviewUnpin
func scopeviewUnpin() { releasem(getg().m) }`}

// counting makes package hooks start counting.
var counting = code{dir: "scope/hooks", imports: []string{count}, text: `//go:linkname stdPin runtime.scopeviewPin
func stdPin()

//go:linkname stdUnpin runtime.scopeviewUnpin
func stdUnpin()

func init() {
	count.Pinning(stdPin, stdUnpin)
	counting(count.FromEnv, count.Stop)
}`}

const count = "github.com/scopeview/scopeview/internal/advice/count"

// advisedVars and advisedCode are the variables and the code that all of these hooks need.
var (
	advisedVars = []variable{
		counterIn("runtime"),
		{"runtime", "scopeviewRates", "[4096]uint8", "count.Thinned"},
		{"runtime", "scopeviewFollowed", "[8192]uint64", "count.Followed"},
		{"runtime", "scopeviewMask", "uint32", "count.OneOf"},
		{"runtime", "scopeviewSkipped", "[65536]uint8", "count.Skipped"},
	}
	advisedCode = []code{advising, counting}
)

// reports declares the runtime's functions in another package.
func reports(dir string) code {
	return code{dir: dir, imports: []string{"unsafe"}, text: `//go:linkname scopeviewReport runtime.scopeviewReport
func scopeviewReport(what uint32, a0, a1, a2, a3, a4, a5, a6 uintptr)

//go:linkname scopeviewThin runtime.scopeviewThin
func scopeviewThin(what uint32, pc, typ, a0, a1, a2, a3, a4, a5, a6 uintptr)

//go:linkname scopeviewUse runtime.scopeviewUse
func scopeviewUse(what uint32, a0, a1, a2 uintptr)

//go:linkname scopeviewNote runtime.scopeviewNote
func scopeviewNote(what uint32, a0, a1, a2, a3, a4, a5 uintptr)

//go:linkname scopeviewClock runtime.scopeviewClock
func scopeviewClock() int64`}
}

// counterIn returns the variable of a package that is not nil while its events are counted.
func counterIn(dir string) variable {
	return variable{dir, "scopeviewCounter", "func(what uint32, a *[8]uintptr, pcs []uintptr)", "&count.ReportTo"}
}

// watching returns the variable of a package that is not 0 while operations are reported.
func watching(dir string) variable {
	return variable{dir, "scopeviewWatching", "uint32", "count.Watching"}
}

// adviceHook returns a row of the table of hooks for advice.
func adviceHook(name, group, what string, edits []edit, vars []variable, more ...code) hook {
	return hook{name: name, group: group, what: what, edits: edits, vars: append(append([]variable{}, advisedVars...), vars...), code: append(append([]code{}, advisedCode...), more...)}
}

// number formats an event for inserted text.
func number(e row.Event) string { return fmt.Sprint(uint32(e)) }

// mapUses returns the edits of functions of package maps with a map m.
func mapUses(e row.Event, at, file string, functions ...string) (list []edit) {
	keyLen := "0"
	if file == "runtime_faststr.go" {
		keyLen = "uintptr(len(key))"
	}
	for _, f := range functions {
		// In Go 1.27 a lookup with one result calls that with two.
		list = append(list, edit{file: "internal/runtime/maps/" + file, function: f, at: at, unless: "p, _ := runtime_mapaccess2",
			insert: "if scopeviewWatching != 0 && m != nil { scopeviewUse(" + number(e) + ", uintptr(unsafe.Pointer(m)), uintptr(m.used), " + keyLen + ") }; "})
	}
	return list
}

// mapWrites returns the edits of functions that store to a map.
func mapWrites() []edit {
	return concat(
		mapUses(row.MapPut, "if race.Enabled {", "runtime.go", "runtime_mapassign"),
		mapUses(row.MapPut, "if race.Enabled {", "runtime_fast32.go", "runtime_mapassign_fast32", "runtime_mapassign_fast32ptr"),
		mapUses(row.MapPut, "if race.Enabled {", "runtime_fast64.go", "runtime_mapassign_fast64", "runtime_mapassign_fast64ptr"),
		mapUses(row.MapPut, "if race.Enabled {", "runtime_faststr.go", "runtime_mapassign_faststr"),
		mapUses(row.MapDelete, "if race.Enabled {", "runtime_fast32.go", "runtime_mapdelete_fast32"),
		mapUses(row.MapDelete, "if race.Enabled {", "runtime_fast64.go", "runtime_mapdelete_fast64"),
		mapUses(row.MapDelete, "if race.Enabled {", "runtime_faststr.go", "runtime_mapdelete_faststr"),
		mapUses(row.MapDelete, "if m == nil || m.Used() == 0 {", "map.go", "Map.Delete"),
		mapUses(row.MapClear, "if m == nil || m.Used() == 0 && !m.tombstonePossible {", "map.go", "Map.Clear"),
	)
}

func concat(lists ...[]edit) (all []edit) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

var maps = []variable{watching("internal/runtime/maps")}

// adviceTable has the hooks for advice.
var adviceTable = []hook{
	adviceHook("slices", Containers+" "+Strings, "slices, from make or the first append through all arrays that they outgrow", []edit{
		{file: "runtime/slice.go", function: "makeslice", at: "return mallocgc(mem, et, true)", instead: true,
			insert: "p := mallocgc(mem, et, true); if scopeviewCounter != nil { scopeviewThin(" + number(row.MakeSlice) +
				", sys.GetCallerPC(), uintptr(unsafe.Pointer(et)), uintptr(p), uintptr(len), uintptr(cap), uintptr(unsafe.Pointer(et)), 0, 0, 0) }; return p"},
		{file: "runtime/slice.go", function: "growslice", at: "return slice{p, newLen, newcap}",
			insert: "if scopeviewCounter != nil { if oldCap == 0 || scopeviewOnStack(oldPtr) { scopeviewThin(" + number(row.GrowSlice) +
				", sys.GetCallerPC(), uintptr(unsafe.Pointer(et)), 0, uintptr(p), uintptr(oldLen), uintptr(newLen), uintptr(oldCap), uintptr(newcap), uintptr(unsafe.Pointer(et))) } else { scopeviewGrows(oldPtr, p, oldLen, newLen, oldCap, newcap, et) } }; "},
	}, nil),
	adviceHook("maps", Containers, "maps, from make or their first growth through all tables that they outgrow", []edit{
		{file: "runtime/map.go", function: "makemap_small", at: "return maps.NewEmptyMap()", instead: true,
			insert: "m := maps.NewEmptyMap(); if scopeviewCounter != nil { scopeviewThin(" + number(row.MakeMap) + ", sys.GetCallerPC(), 0, uintptr(unsafe.Pointer(m)), 0, 0, 0, 0, 0, 0) }; return m"},
		{file: "runtime/map.go", function: "makemap", at: "return maps.NewMap(t, uintptr(hint), m, maxAlloc)", instead: true,
			insert: "m = maps.NewMap(t, uintptr(hint), m, maxAlloc); if scopeviewCounter != nil { scopeviewThin(" + number(row.MakeMap) +
				", sys.GetCallerPC(), 0, uintptr(unsafe.Pointer(m)), uintptr(hint), uintptr(unsafe.Pointer(t)), 0, 0, 0, 0) }; return m"},
		{file: "internal/runtime/maps/map.go", function: "Map.growToTable", at: "tab := newTable(typ, 2*abi.MapGroupSlots, 0, 0)",
			insert: "if scopeviewCounter != nil { scopeviewReport(" + number(row.GrowMap) + ", uintptr(unsafe.Pointer(m)), uintptr(m.used), uintptr(m.used), abi.MapGroupSlots, uintptr(unsafe.Pointer(typ)), 0, 0) }; "},
		{file: "internal/runtime/maps/table.go", function: "table.rehash", at: "newCapacity := 2 * t.capacity",
			insert: "if scopeviewCounter != nil { scopeviewReport(" + number(row.GrowMap) + ", uintptr(unsafe.Pointer(m)), uintptr(m.used), uintptr(t.used), uintptr(t.capacity), uintptr(unsafe.Pointer(typ)), 0, 0) }; "},
	}, []variable{counterIn("internal/runtime/maps")}, reports("internal/runtime/maps")),
	adviceHook("mapuse", Containers, "operations on maps, for a share of the time", concat(
		mapUses(row.MapGet, "if race.Enabled && m != nil {", "runtime.go", "runtime_mapaccess1", "runtime_mapaccess2"),
		mapUses(row.MapGet, "if race.Enabled && m != nil {", "runtime_fast32.go", "runtime_mapaccess1_fast32", "runtime_mapaccess2_fast32"),
		mapUses(row.MapGet, "if race.Enabled && m != nil {", "runtime_fast64.go", "runtime_mapaccess1_fast64", "runtime_mapaccess2_fast64"),
		mapUses(row.MapGet, "if race.Enabled && m != nil {", "runtime_faststr.go", "runtime_mapaccess1_faststr", "runtime_mapaccess2_faststr"),
		mapWrites(),
		mapUses(row.MapIter, "it.typ = typ", "table.go", "Iter.Init"),
		[]edit{{file: "internal/runtime/maps/table.go", function: "Iter.Next", at: "if it.m == nil {",
			insert: "if scopeviewWatching != 0 && it.m != nil { scopeviewUse(" + number(row.MapStep) + ", uintptr(unsafe.Pointer(it.m)), uintptr(it.m.used), 0) }; "}},
	), maps, reports("internal/runtime/maps")),
}
