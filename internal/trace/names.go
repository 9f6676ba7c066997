package trace

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// nameTable holds the names by id.
type nameTable struct {
	text    []string
	defined []bool
}

func (n *nameTable) has(id uint16) bool { return int(id) < len(n.defined) && n.defined[id] }

// errRenamed means that an id has a second name.
var errRenamed = errors.New("it names an id again; the first name counts")

func (n *nameTable) add(id uint16, name []byte) error {
	if id < format.FirstName {
		return nil // the format reserves it
	}
	if k := int(id) + 1; k > len(n.text) {
		n.text = append(n.text, make([]string, k-len(n.text))...)
		n.defined = append(n.defined, make([]bool, k-len(n.defined))...)
	}
	if n.defined[id] {
		if n.text[id] != string(name) {
			return errRenamed
		}
		return nil
	}
	n.text[id], n.defined[id] = string(name), true
	return nil
}

// Name returns the text of a name id; "(name 17)" for an id that the trace does not define. It is
// raw: it may hold control characters and invalid UTF-8. The name of a place is replaced by its
// object's if NameByObject has one.
func (t *Trace) Name(id uint16) string {
	if text := t.objectNames().textOf(id); text != "" {
		return text
	}
	n := t.names.Load()
	if n.has(id) {
		return n.text[id]
	}
	switch id {
	case format.NameEmpty:
		return ""
	case format.NameOther:
		return format.OtherNames
	}
	if n = t.newerNames(id); n.has(id) {
		return n.text[id]
	}
	return fmt.Sprintf("(name %d)", id)
}

// newerNames reads names written since Open: a record that is read later than the names may have a
// name of its own, which then is in the file already. It tries at most 64 times: a corrupt trace
// may miss all its names.
func (t *Trace) newerNames(id uint16) *nameTable {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.names.Load()
	if t.state.Closed || n.has(id) || t.nameSearches >= 64 {
		return n
	}
	t.nameSearches++
	m := &nameTable{slices.Clone(n.text), slices.Clone(n.defined)}
	defer t.names.Store(m)
	buf := make([]byte, t.header.ChunkSize)
	for _, b := range t.tails {
		if c := t.chunkOf(b.loc); c != nil {
			t.scanNames(m, buf, c.at, b.at)
		}
	}
	// Chunks are handed out one after another: behind the first that was not, there are at most as
	// many as there are writers.
	for at, none := t.used, 0; none < 16; at += int64(len(buf)) {
		if none++; t.scanNames(m, buf, at, format.ChunkHeaderSize) {
			none = 0
		}
	}
	return m
}

// scanNames adds the names in the chunk at the offset at, from the byte from on, to m. born is
// false if none was handed out there. buf is scratch memory.
func (t *Trace) scanNames(m *nameTable, buf []byte, at int64, from int) (born bool) {
	file := t.chunkFile()
	file.Size = math.MaxInt64 // its present length
	c, ok, bad, err := file.ReadChunk(buf, at)
	if err != nil || bad != nil || !ok || c.Kind != format.ChunkBlocks {
		return ok
	}
	for w := c.BlocksFrom(from); w.Next() && w.Err == nil; {
		if w.Type == format.BlockName {
			if id, name, err := format.DecodeName(w.Payload); err == nil {
				_ = m.add(id, name) // Verify reports a second name
			}
		}
	}
	return true
}

// Names returns every name: the index is the id. Ids that are not defined are "".
func (t *Trace) Names() []string {
	n := t.names.Load()
	names := make([]string, max(len(n.text), format.FirstName))
	copy(names, n.text)
	if !n.has(format.NameOther) {
		names[format.NameOther] = format.OtherNames
	}
	if o := t.objectNames(); o != nil {
		for id, text := range o.text {
			if int(id) < len(names) {
				names[id] = text
			}
		}
	}
	return names
}

// Object is the lock, channel or loop that is waited for at places.
type Object struct {
	Name string // "": not known, and the place keeps its own name
	Key  string // distinguishes objects with one name; equal for all places of an object
}

// objectTable maps places to their objects' names. It is never changed: a new one replaces it.
type objectTable struct {
	text map[uint16]string // by the name of a place
	id   map[uint16]uint16 // the name of its object's first place, if that is another one
	of   map[Object]uint16
	used map[string]bool // names of objects
}

// NameByObject names waits and holds at places by their objects, all places of an object as one.
// objects returns those of some places. It is called at the first lookup of a name, and by a
// Follower for later places. Package open calls NameByObject before the trace is read: names that
// were read before stay.
func (t *Trace) NameByObject(objects func([]Place) []Object) {
	t.objectsOf = objects
	t.needsNames.Store(true)
}

// objectNames returns the objects' names of places; nil: places keep their names.
func (t *Trace) objectNames() *objectTable {
	if t.needsNames.Load() {
		t.naming.Lock()
		defer t.naming.Unlock()
		if t.needsNames.Load() {
			t.nameByObject()
			t.needsNames.Store(false)
		}
	}
	return t.objects.Load()
}

// nameByObject names the places that were added since its last call.
func (t *Trace) nameByObject() {
	if t.objectsOf == nil || t.namedPlaces == len(t.stacks.places) {
		return
	}
	fresh := ofLocks(t.stacks.places[t.namedPlaces:])
	t.namedPlaces = len(t.stacks.places)
	o := &objectTable{map[uint16]string{}, map[uint16]uint16{}, map[Object]uint16{}, map[string]bool{}}
	if old := t.objects.Load(); old != nil {
		o = &objectTable{maps.Clone(old.text), maps.Clone(old.id), maps.Clone(old.of), maps.Clone(old.used)}
	}
	for i, x := range t.objectsOf(fresh) {
		if x.Name == "" {
			continue
		}
		p := fresh[i].Name
		first, known := o.of[x]
		switch {
		case known:
			o.id[p], o.text[p] = first, o.text[first]
		case !o.used[x.Name]: // else another object has it: the place distinguishes them
			o.of[x], o.text[p], o.used[x.Name] = p, x.Name, true
		}
	}
	t.objects.Store(o)
}

// IsObject reports whether a place is named by its object.
func (t *Trace) IsObject(name uint16) bool { return t.objectNames().textOf(name) != "" }

// nameOf returns the name id for a wait or a hold with a name.
func (o *objectTable) nameOf(name uint16) uint16 {
	if o != nil {
		if first, ok := o.id[name]; ok {
			return first
		}
	}
	return name
}

// textOf returns the object's name for a name id, "" if there is none.
func (o *objectTable) textOf(name uint16) string {
	if o == nil {
		return ""
	}
	return o.text[name]
}

// FirstPlaces returns the place of each name, by its text.
func (t *Trace) FirstPlaces() map[string]Place {
	first := map[string]Place{}
	for _, p := range t.stacks.places {
		if name := t.Name(p.Name); first[name].Line == 0 {
			first[name] = p
		}
	}
	return first
}
