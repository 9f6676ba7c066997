//go:build !scope_off

package record

import (
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// site describes a return address in the program: the place of an operation that a hook in
// the standard library has reported.
type site struct {
	class siteClass
	kind  format.LockKind // if not LockMutex: the mutex is part of a lock of this kind
	name  string          // "function file:line"
	at    runtime.Frame
	sums  [lockKinds]atomic.Pointer[lockSums]
	known atomic.Pointer[knownID]
}

const lockKinds = format.LockSelect + 1

type siteClass uint8

const (
	siteLock  siteClass = iota // a function of a lock or of the runtime: its caller is more specific
	siteOurs                   // the recorder
	siteOther                  // the standard library: its caller may be the recorder
	siteUser
)

// sites holds all known sites.
var (
	sites     = pcTable[site]{index: &siteIndex}
	siteIndex pcIndex
)

// newSite returns the site at pc. Several functions may be there, one inlined into the other.
func newSite(pc uintptr) *site {
	s := &site{class: siteLock, kind: format.LockMutex}
	frames := runtime.CallersFrames([]uintptr{pc, 0}) // for the last address it returns only the innermost function
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "" || sys.Wrapper(&f) {
			continue
		}
		switch {
		case recorders(f.Function):
			s.class = siteOurs
		case strings.HasPrefix(f.Function, "sync.(*RWMutex)."):
			s.kind = format.LockRWMutex
			continue
		case strings.HasPrefix(f.Function, "sync.(*Once)."):
			s.kind = format.LockOnce
			continue
		case synchronizes(f.Function):
			continue
		case standard(&f):
			s.class = siteOther
		default:
			s.class = siteUser
		}
		s.name, s.at = placeName(f.Function, f.File, f.Line), f
		return s
	}
	return s
}

// placeName returns the name of a place in a function.
func placeName(function, file string, line int) string {
	return format.ShortFunction(function) + " " + file[strings.LastIndexAny(file, "/\\")+1:] + ":" + strconv.Itoa(line)
}

// recorders reports whether a function belongs to the recorder.
func recorders(f string) bool {
	rest, ok := strings.CutPrefix(f, ourModule+"/")
	if !ok {
		return false
	}
	for _, p := range []string{"scope.", "scope/", "internal/", "mmpool.", "flusher.", "sweeper."} {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}

// synchronizes reports whether a function waits on behalf of its caller.
func synchronizes(f string) bool {
	for _, p := range []string{"sync.", "internal/sync.", "runtime."} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

// standard reports whether a function belongs to the standard library: whether its file is
// below the parent directory of package runtime.
func standard(f *runtime.Frame) bool {
	root := stdRoot()
	rest, ok := strings.CutPrefix(f.File, root)
	if root != "" || !ok {
		return ok
	}
	first, _, _ := strings.Cut(rest, "/") // built with -trimpath
	return !strings.Contains(first, ".") && !strings.HasPrefix(f.Function, "main.")
}

// stdRoot returns the directory of the standard library's source, with a slash; "" if the
// program was built without it.
func stdRoot() string {
	if p := stdRootKnown.Load(); p != nil {
		return *p
	}
	root := ""
	if f := runtime.FuncForPC(sys.EntryOf(runtime.GC)); f != nil {
		file, _ := f.FileLine(f.Entry())
		if i := strings.LastIndex(file, "runtime/"); i > 0 {
			root = file[:i]
		}
	}
	stdRootKnown.Store(&root)
	return root
}

var stdRootKnown atomic.Pointer[string]

// knownID caches a name's id. It is valid while the table of names is the same: a changed
// filter, or another recording, creates a new one.
type knownID struct {
	table *nameCache
	id    uint64
}

// id returns what r.names.find returns for the site's name.
func (s *site) id(r *recorder) uint64 { return cachedID(r, &s.known, s.name) }

func cachedID(r *recorder, known *atomic.Pointer[knownID], name string) uint64 {
	table := r.names.cache.Load()
	if k := known.Load(); k != nil && k.table == table {
		return k.id
	}
	id := r.names.find(name)
	if id&nameID != format.NameOther {
		known.Store(&knownID{table, id})
	}
	return id
}

// countedAt is sumsOf, and records the place.
func (r *recorder) countedAt(s *site, kind format.LockKind) *lockSums {
	sums := s.sumsOf(kind)
	if sums.at.Frame != nil && sums.at.writtenIn.Load() != r.gen {
		r.writePlace(sums)
	}
	return sums
}

// sumsOf returns the counts of the waits of a kind here. If a place has two kinds, the second
// one's name has the kind appended.
func (s *site) sumsOf(kind format.LockKind) *lockSums {
	if sums := s.sums[kind].Load(); sums != nil {
		return sums
	}
	t := &sitePlaces
	for tries := 0; !t.busy.CompareAndSwap(false, true); tries++ {
		if tries > 1000 {
			return restLocks // retry the next time
		}
		runtime.Gosched()
	}
	defer t.busy.Store(false)
	name := s.name
	if first, ok := t.kinds[name]; ok && first != kind {
		name += " (" + format.LockKindNames[kind] + ")"
	} else if !ok {
		if t.kinds == nil {
			t.kinds, t.by = map[string]format.LockKind{}, map[string]*lockSums{}
		}
		t.kinds[name] = kind
	}
	sums := t.by[name]
	if sums == nil {
		sums = newSums(0, name, kind)
		sums.at.Frame = frameOf(&s.at, kind)
		t.by[name] = sums
		sums.register()
	}
	s.sums[kind].Store(sums)
	return sums
}

// sitePlaces holds the sums by name. busy is not a mutex, which the hooks would report.
var sitePlaces struct {
	busy  atomic.Bool
	kinds map[string]format.LockKind // the first kind at a place
	by    map[string]*lockSums
}

// nearCallers is the number of frames searched for the function that waits.
const nearCallers = 32

// siteHere returns the site where the goroutine waits or releases, and the kind of lock that
// the mutex there is part of; nil if the site is unknown, or in the recorder itself, which is
// not recorded.
//
//go:noinline
func (r *recorder) siteHere() (at *site, number int, kind format.LockKind) {
	var pcs [nearCallers]uintptr
	kind, hook := format.LockMutex, true
	for _, pc := range sys.Near(pcs[:], r.walk) {
		s, n := sites.at(pc, newSite)
		if s == nil {
			return nil, 0, kind
		}
		if hook && s.class == siteOurs {
			continue
		}
		hook = false
		if s.kind != format.LockMutex && at == nil {
			kind = s.kind
		}
		switch s.class {
		case siteOurs:
			return nil, 0, kind
		case siteOther, siteUser:
			if at == nil {
				at, number = s, n
			}
			if s.class == siteUser {
				return at, number, kind
			}
		}
	}
	return at, number, kind
}
