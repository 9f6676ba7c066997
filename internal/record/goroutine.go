//go:build !scope_off

package record

import (
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// entry is the entry function of goroutines.
type entry struct {
	name  string // "": the recorder's own
	known atomic.Pointer[knownID]
}

// namingCost is the usual cost of naming a goroutine, in ns.
const namingCost = 100

// entries holds all known entry functions.
var (
	entries    = pcTable[entry]{index: &entryIndex}
	entryIndex pcIndex
)

// GoroutineCreated is called on a goroutine that has created another one, child, whose entry function
// is at pc. The child's row gets that function's name.
//
//go:noinline
func GoroutineCreated(child uint64, pc uintptr) {
	if atomic.LoadUint32(&sys.Live.On) == Off {
		return
	}
	r := current.Load()
	if !namingAllowance.take(r, r.clock.Now(), namingCost) {
		if r.unnamed.Add(1) == 1 {
			locksWriter.Store(&lockWriter) // it also writes this count
		}
		return
	}
	id := uint64(format.NameOther)
	if e, _ := entries.at(pc, newEntry); e == nil {
		r.names.others.Add(1)
	} else if e.name == "" {
		return
	} else if id = cachedID(r, &e.known, e.name); id&nameOut != 0 {
		return
	}
	r.put(&[4]uint64{1: child & format.MaxGoid, 2: headMade | id&nameID<<48}, nil, 1)
}

func newEntry(pc uintptr) *entry { return &entry{name: entryName(pc)} }

// entryName returns the short name of the function at pc. A closure is named by its place,
// and a wrapper made by the compiler, to pass arguments, by the function that it calls.
func entryName(pc uintptr) string {
	f := runtime.FuncForPC(pc)
	if f == nil {
		return format.OtherNames
	}
	name := f.Name()
	if strings.Contains(name, ".gowrap") {
		if of := calledBy(pc); of != "" {
			name = of
		}
	}
	if recorders(name) {
		return ""
	}
	if outer, ok := closureOf(name); ok {
		file, line := f.FileLine(f.Entry())
		return placeName(outer, file, line)
	}
	return format.ShortFunction(strings.TrimSuffix(name, "-fm"))
}

// calledBy returns the function that the compiler's wrapper at pc calls, which may be
// inlined there; "" if it calls a function value.
func calledBy(pc uintptr) string {
	to, back := sys.FirstCall(pc, isEntry)
	if to == 0 {
		return ""
	}
	outer, frames := "", runtime.CallersFrames([]uintptr{back, 0})
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); !sys.Wrapper(&f) {
			outer = f.Function // the last one is the outermost
		}
	}
	if outer == "" {
		outer = runtime.FuncForPC(to).Name()
	}
	if _, closure := closureOf(outer); closure {
		return "" // its place is unknown here
	}
	return outer
}

// closureOf returns the function that encloses a closure.
func closureOf(name string) (outer string, ok bool) {
	for _, mark := range []string{".func", ".gowrap"} {
		for from := strings.LastIndexByte(name, '/') + 1; ; {
			i := strings.Index(name[from:], mark)
			if i < 0 {
				break
			}
			if at := from + i + len(mark); at < len(name) && name[at] >= '0' && name[at] <= '9' {
				return name[:from+i], true
			}
			from += i + len(mark)
		}
	}
	return "", false
}

// isEntry reports whether pc is the entry of a function outside of package runtime.
func isEntry(pc uintptr) bool {
	f := runtime.FuncForPC(pc)
	return f != nil && f.Entry() == pc && !strings.HasPrefix(f.Name(), "runtime.")
}
