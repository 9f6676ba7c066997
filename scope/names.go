//go:build !scope_off

package scope

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/sys"
)

// A name as find returns it: its id, and whether the filter leaves it out.
const (
	nameID  = 1<<16 - 1
	nameOut = 1 << 16
)

// maxNameBytes is how much text the names of one recording may have.
const maxNameBytes = 8 << 20

// names turns names into ids. A string whose bytes lie in a read-only file
// mapping, as constants do, is looked up by its address: those bytes can't
// change and their address can't be reused. All others are looked up by content,
// since a buffer may hold another name the next time.
type names struct {
	cache atomic.Pointer[nameCache]
	fast  *sys.Fast // gets the table too; nil: the Go path

	mu     sync.RWMutex
	ids    map[string]uint64 // id | nameOut
	bytes  int
	filter glob.Filter
	fixed  []sys.Span                        // the read-only file mappings
	define func(id uint16, name string) bool // false: there was no room for it
	others atomic.Int64                      // uses of names that did not fit
}

// nameCache is an open-addressed table by address and length. An entry is
// written once; the table grows by replacement, so a reader needs no lock. The
// assembly looks only where a name should be first.
type nameCache struct {
	mask    uint64
	used    int
	entries []sys.NameEntry // Word: length << 17 | nameOut | id
}

func newNames(fast *sys.Fast, filter glob.Filter, define func(uint16, string) bool) *names {
	n := &names{
		fast:   fast,
		ids:    map[string]uint64{},
		filter: filter,
		fixed:  sys.ReadOnly(),
		define: define,
	}
	n.ids[""] = format.NameEmpty | n.out("")
	n.use(newNameCache(512))
	return n
}

func newNameCache(size uint64) *nameCache {
	return &nameCache{mask: size - 1, entries: make([]sys.NameEntry, size)}
}

func nameHash(addr uintptr, n int) uint64 {
	return (uint64(addr)>>3 ^ uint64(addr)>>13) + uint64(n)
}

// find returns the id of a name, and nameOut where the filter leaves it out.
func (n *names) find(name string) uint64 {
	c := n.cache.Load()
	addr := sys.StringAddr(name)
	for i := nameHash(addr, len(name)); ; i++ {
		e := &c.entries[i&c.mask]
		a := atomic.LoadUintptr(&e.Addr)
		if a == addr && e.Word>>17 == uint64(len(name)) {
			return e.Word & (nameOut | nameID)
		}
		if a == 0 {
			return n.slow(name)
		}
	}
}

// slow finds a name by its content and, where its bytes stay what they are,
// remembers its address.
//
//go:noinline
func (n *names) slow(name string) uint64 {
	kept := name
	if len(kept) > format.MaxName {
		kept = kept[:format.MaxName]
	}
	n.mu.RLock()
	id, ok := n.ids[kept]
	n.mu.RUnlock()
	if !ok {
		id = n.intern(kept)
	}
	if id&nameID == format.NameOther {
		n.others.Add(1)
		return id
	}
	if len(name) > 0 && n.lasts(name) {
		n.mu.Lock()
		n.remember(sys.StringAddr(name), len(name), id)
		n.mu.Unlock()
	}
	return id
}

// intern gives a name its id. Its definition is in the trace before the id is
// used, so whoever finds a record can tell what it is called.
func (n *names) intern(name string) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.ids[name]; ok {
		return id
	}
	next := len(n.ids) - 1 + format.FirstName // "" is in ids
	if next >= format.MaxNames || n.bytes+len(name) > maxNameBytes {
		return format.NameOther | n.out(name)
	}
	name = strings.Clone(name)
	if !n.define(uint16(next), name) {
		return format.NameOther | n.out(name)
	}
	id := uint64(next) | n.out(name)
	n.ids[name] = id
	n.bytes += len(name)
	return id
}

func (n *names) out(name string) uint64 {
	if n.filter.Match(name) {
		return 0
	}
	return nameOut
}

// remember enters a name's address into the cache. n.mu is held.
func (n *names) remember(addr uintptr, length int, id uint64) {
	c := n.cache.Load()
	if c.used >= len(c.entries)/2 {
		bigger := newNameCache(2 * uint64(len(c.entries)))
		for i := range c.entries {
			if e := &c.entries[i]; atomic.LoadUintptr(&e.Addr) != 0 {
				bigger.put(atomic.LoadUintptr(&e.Addr), e.Word)
			}
		}
		n.use(bigger)
		c = bigger
	}
	c.put(addr, uint64(length)<<17|id)
}

func (c *nameCache) put(addr uintptr, word uint64) {
	for i := nameHash(addr, int(word>>17)); ; i++ {
		e := &c.entries[i&c.mask]
		switch atomic.LoadUintptr(&e.Addr) {
		case addr:
			if e.Word>>17 == word>>17 {
				return
			}
		case 0:
			e.Word = word
			atomic.StoreUintptr(&e.Addr, addr)
			c.used++
			return
		}
	}
}

// lasts tells whether a string's bytes lie where nobody can change them.
func (n *names) lasts(s string) bool {
	a := sys.StringAddr(s)
	for _, f := range n.fixed {
		if a >= f.From && a+uintptr(len(s)) <= f.To {
			return true
		}
	}
	return false
}

// setFilter decides anew about every name. Each is then asked for once more.
func (n *names) setFilter(f glob.Filter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.filter = f
	for name, id := range n.ids {
		n.ids[name] = id&nameID | n.out(name)
	}
	// Not a smaller one: the assembly may have the old mask and the new table.
	n.use(newNameCache(n.cache.Load().mask + 1))
}

func (n *names) use(c *nameCache) {
	n.cache.Store(c)
	if n.fast != nil {
		n.fast.SetNames(&c.entries[0], c.mask)
	}
}

func (n *names) count() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return int64(len(n.ids) - 1)
}
