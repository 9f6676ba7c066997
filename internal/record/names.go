//go:build !scope_off

package record

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/sys"
)

// A name as returned by find: its id, and a bit that is set if it is filtered out.
const (
	nameID  = 1<<16 - 1
	nameOut = 1 << 16
)

// maxNameBytes limits the text of one recording's names.
const maxNameBytes = 8 << 20

// names maps names to ids. A string whose bytes lie in a read-only file mapping, as
// constants do, is looked up by its address: those bytes can't change and their
// address can't be reused. All others are looked up by content, because a buffer may
// hold another name the next time.
type names struct {
	cache atomic.Pointer[nameCache]
	used  func(table nameCache) // called with each new table

	// mu is never held while a filter is evaluated, which may take long, and may come
	// from outside the process.
	mu     sync.RWMutex
	ids    map[string]uint16
	texts  []string // by id; the first ids have no name, except for ""
	bytes  int
	filter glob.Filter
	out    []bool                            // by id: whether the filter excludes it
	fixed  []sys.Span                        // the read-only file mappings
	define func(id uint16, name string) bool // false: there was no room
	place  func(id uint16)                   // records where the program first gave a name
	others atomic.Int64                      // uses of names that did not fit
	placed [format.MaxNames / 64]uint64      // bits by id: its place was recorded
}

// nameCache is a table by address. A name is in its one slot or not in the table,
// because the assembly checks no other: when two names collide the table grows, up to
// maxCache entries. An entry is written once, so readers need no lock.
type nameCache []sys.NameEntry

const (
	minCache = 1 << 7
	maxCache = 1 << 16 // 2 MiB
)

func newNames(used func(nameCache), filter glob.Filter, define func(uint16, string) bool, place func(uint16)) *names {
	n := &names{
		used:   used,
		ids:    map[string]uint16{"": format.NameEmpty},
		texts:  make([]string, format.FirstName),
		filter: filter,
		fixed:  sys.ReadOnly(),
		define: define,
		place:  place,
	}
	n.out = decide(n.texts, filter)
	n.use(make(nameCache, minCache))
	return n
}

// find returns the id of a name, with nameOut if the filter excludes it.
func (n *names) find(name string) uint64 {
	if e := n.cached(name); e != nil {
		return e.Head>>48 | e.Len>>63<<16
	}
	return n.slow(name, false)
}

// given is find for a name that the program passes to package scope: the place of its
// first use is recorded.
func (n *names) given(name string) uint64 {
	if e := n.cached(name); e != nil {
		return e.Head>>48 | e.Len>>63<<16
	}
	return n.slow(name, true)
}

// cached returns the name's entry in the table, or nil.
func (n *names) cached(name string) *sys.NameEntry {
	c := *n.cache.Load()
	addr := sys.StringAddr(name)
	e := &c[sys.NameSlot(addr, len(c))]
	if atomic.LoadUintptr(&e.Addr) == addr && e.Len&^sys.NameOut == uint64(len(name)) {
		return e // never the empty name: remember does not enter it
	}
	return nil
}

// slow finds a name by its content and remembers its address if its bytes can't
// change. given is whether to record its place.
//
//go:noinline
func (n *names) slow(name string, given bool) uint64 {
	id, first := n.learn(name)
	if first && given {
		n.place(uint16(id))
	}
	if n.lasts(name) {
		id = n.enter(name, id)
	}
	return id
}

// lasting is find for a name whose bytes never change, wherever they lie.
func (n *names) lasting(name string) uint64 {
	if e := n.cached(name); e != nil {
		return e.Head>>48 | e.Len>>63<<16
	}
	return n.enter(name, n.lookup(name))
}

// enter remembers the address of a name with that id, and returns what find does.
func (n *names) enter(name string, id uint64) uint64 {
	if id&nameID == format.NameOther || len(name) == 0 {
		return id
	}
	n.mu.Lock()
	// Look it up again: the filter may have changed.
	id, _ = n.known(name[:min(len(name), format.MaxName)])
	n.remember(sys.StringAddr(name), len(name), id)
	n.mu.Unlock()
	return id
}

// lookup finds a name by its content.
func (n *names) lookup(name string) uint64 {
	id, _ := n.learn(name)
	return id
}

// learn is lookup, and also returns whether the name is new.
func (n *names) learn(name string) (id uint64, first bool) {
	kept := name
	if len(kept) > format.MaxName {
		kept = kept[:format.MaxName]
	}
	n.mu.RLock()
	id, ok := n.known(kept)
	filter := n.filter
	n.mu.RUnlock()
	if !ok {
		id, first = n.intern(kept, filter)
	}
	if id&nameID == format.NameOther {
		if id&nameOut == 0 {
			n.others.Add(1)
		}
	}
	return id, first
}

// known returns what find does for a name that has an id. n.mu is held.
func (n *names) known(name string) (uint64, bool) {
	id, ok := n.ids[name]
	if ok && n.out[id] {
		return uint64(id) | nameOut, true
	}
	return uint64(id), ok
}

// intern gives a name its id. Its definition is in the trace before the id is used, so
// every record's name is known. filter is the filter of a moment ago; first is false
// if the name has got an id meanwhile, or gets none.
func (n *names) intern(name string, filter glob.Filter) (id uint64, first bool) {
	out := !filter.Match(name)
	n.mu.Lock()
	for n.filter != filter {
		filter = n.filter
		n.mu.Unlock()
		out = !filter.Match(name)
		n.mu.Lock()
	}
	defer n.mu.Unlock()
	if id, ok := n.known(name); ok {
		return id, false
	}
	id = uint64(format.NameOther)
	if next := len(n.texts); next < format.MaxNames && n.bytes+len(name) <= maxNameBytes {
		// A variable of its own: otherwise the compiler decides that the caller's
		// escapes, and with it all arguments that include a key.
		kept := strings.Clone(name)
		if n.define(uint16(next), kept) {
			id = uint64(next)
			n.ids[kept] = uint16(next)
			n.texts = append(n.texts, kept)
			n.out = append(n.out, out)
			n.bytes += len(kept)
			first = true
		}
	}
	if out {
		id |= nameOut
	}
	return id, first
}

// crowded reports whether more than half of the possible names are in use.
func (n *names) crowded() bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.texts) > format.MaxNames/2 || n.bytes > maxNameBytes/2
}

// text returns the name with an id.
func (n *names) text(id uint16) (string, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if int(id) < len(n.texts) {
		return n.texts[id], id != format.NameOther
	}
	return "", false
}

// decide returns which names a filter excludes.
func decide(texts []string, f glob.Filter) []bool {
	out := make([]bool, len(texts))
	for i, name := range texts {
		out[i] = !f.Match(name)
	}
	return out
}

// remember enters a name's address into the cache. n.mu is held.
func (n *names) remember(addr uintptr, length int, id uint64) {
	e := sys.NameEntry{Addr: addr, Len: uint64(length), Head: id & nameID << 48}
	if id&nameOut != 0 {
		e.Len |= sys.NameOut
	}
	c := *n.cache.Load()
	if c.put(e) {
		return
	}
	for size := 2 * len(c); size <= maxCache; size *= 2 {
		if bigger := make(nameCache, size); bigger.putAll(c) && bigger.put(e) {
			n.use(bigger)
			return
		}
	}
}

// put enters e in its slot, if that is free. A name that is a prefix of one in the
// table has the same slot, and is not entered.
func (c nameCache) put(e sys.NameEntry) bool {
	slot := &c[sys.NameSlot(e.Addr, len(c))]
	if atomic.LoadUintptr(&slot.Addr) != 0 {
		return slot.Addr == e.Addr
	}
	slot.Len, slot.Head = e.Len, e.Head
	atomic.StoreUintptr(&slot.Addr, e.Addr)
	return true
}

func (c nameCache) putAll(old nameCache) bool {
	for i := range old {
		if old[i].Addr != 0 && !c.put(old[i]) {
			return false
		}
	}
	return true
}

// lasts reports whether a string's bytes can't change.
func (n *names) lasts(s string) bool {
	a := sys.StringAddr(s)
	for _, f := range n.fixed {
		if a >= f.From && a+uintptr(len(s)) <= f.To {
			return true
		}
	}
	return false
}

// setFilter applies a filter to all names: to new ones when they come, to existing
// ones here. Each is then looked up once more. Calls must not be concurrent.
func (n *names) setFilter(f glob.Filter) {
	n.mu.Lock()
	n.filter = f
	texts := n.texts
	n.mu.Unlock()
	out := decide(texts, f)
	// It must not shrink: see sys.Fast.SetNames.
	table := make(nameCache, len(*n.cache.Load()))
	n.mu.Lock()
	defer n.mu.Unlock()
	copy(n.out, out)
	if size := len(*n.cache.Load()); size > len(table) {
		table = make(nameCache, size)
	}
	n.use(table)
}

func (n *names) use(c nameCache) {
	n.cache.Store(&c)
	n.used(c)
}

func (n *names) count() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return int64(len(n.texts) - format.FirstName)
}
