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

// site is what is known of an address that a call returns to: of what a goroutine does that
// a hook in the standard library was told of.
type site struct {
	class siteClass
	kind  format.LockKind // not LockMutex: the mutex belongs to one of these
	name  string          // "function file:line"
	at    runtime.Frame
	sums  [lockKinds]atomic.Pointer[lockSums]
	known atomic.Pointer[knownID]
}

const lockKinds = format.LockSelect + 1

type siteClass uint8

const (
	siteLock  siteClass = iota // a function of a lock or of the runtime: its caller says more
	siteOurs                   // the recorder
	siteOther                  // the standard library: who called it may be the recorder
	siteUser
)

// sites are all that are known.
var (
	sites     = pcTable[site]{index: &siteIndex}
	siteIndex pcIndex
)

// newSite finds out what is at pc. Several functions may, one inlined into the other.
func newSite(pc uintptr) *site {
	s := &site{class: siteLock, kind: format.LockMutex}
	frames := runtime.CallersFrames([]uintptr{pc, 0}) // of the last one it tells only the innermost function
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

// placeName is what a place in a function is called.
func placeName(function, file string, line int) string {
	return format.ShortFunction(function) + " " + file[strings.LastIndexAny(file, "/\\")+1:] + ":" + strconv.Itoa(line)
}

// recorders reports whether a function is one of what records.
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

// synchronizes reports whether a function waits for who called it.
func synchronizes(f string) bool {
	for _, p := range []string{"sync.", "internal/sync.", "runtime."} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

// standard reports whether a function is of the standard library: its file is below
// the directory in which this one's caller's is, of package runtime.
func standard(f *runtime.Frame) bool {
	root := stdRoot()
	rest, ok := strings.CutPrefix(f.File, root)
	if root != "" || !ok {
		return ok
	}
	first, _, _ := strings.Cut(rest, "/") // built with -trimpath
	return !strings.Contains(first, ".") && !strings.HasPrefix(f.Function, "main.")
}

// stdRoot is the directory of the standard library's source, with a slash; "" where the
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

// knownID is a name's id while the table of names is this one: a filter that changes, or
// another recording, makes a new one.
type knownID struct {
	table *nameCache
	id    uint64
}

// id is what r.names.find tells of the site's name.
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

// countedAt is sumsOf; the trace is told where the place is.
func (r *recorder) countedAt(s *site, kind format.LockKind) *lockSums {
	sums := s.sumsOf(kind)
	if sums.at.Frame != nil && sums.at.told.Load() != r.gen {
		r.tellPlace(sums)
	}
	return sums
}

// sumsOf is what is counted of the waits of a kind here. Of two kinds in one place the
// second one's are called otherwise.
func (s *site) sumsOf(kind format.LockKind) *lockSums {
	if sums := s.sums[kind].Load(); sums != nil {
		return sums
	}
	t := &sitePlaces
	for tries := 0; !t.busy.CompareAndSwap(false, true); tries++ {
		if tries > 1000 {
			return restLocks // next time
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

// sitePlaces is the sums by name. busy is no mutex, as hooks are told of those.
var sitePlaces struct {
	busy  atomic.Bool
	kinds map[string]format.LockKind // the first of a place
	by    map[string]*lockSums
}

// nearCallers is how far it is looked for who waits.
const nearCallers = 32

// siteHere is where the goroutine waits or lets go, and what the mutex there belongs to; nil:
// it is not known, or the recorder itself, which is not recorded.
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
