package trace

import (
	"cmp"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// Place is the source line where locks without a name are locked, or where the program first used a
// name.
type Place struct {
	Name     uint16          // the recorder's name for them
	Kind     format.LockKind // LockUnknown: the name is the program's
	Function string
	File     string
	Line     int
}

// place adds the frame of a place.
func (s *stackTable) place(f *format.Frame) {
	kind := format.LockUnknown
	if f.Start < uint32(len(format.LockKindNames)) {
		kind = format.LockKind(f.Start)
	}
	if name := uint16(f.ID - format.PlaceFrames); name >= format.FirstName {
		s.places = append(s.places, Place{name, kind, f.Function, f.File, int(f.Line)})
	}
}

// Places lists the places where locks without a name are locked, by their names' ids, as far as the
// trace has them.
func (t *Trace) Places() []Place { return ofLocks(t.stacks.places) }

// ofLocks returns the places of locks without a name, by their names' ids.
func ofLocks(all []Place) []Place {
	list := slices.DeleteFunc(slices.Clone(all), func(p Place) bool { return p.Kind == format.LockUnknown })
	slices.SortFunc(list, func(a, b Place) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// NamePlaces lists the places of names, without the first known ones: one place for each name, the
// first one if the program uses the name in several. Places that a growing trace adds come behind
// the others. Older traces have only those of locks without a name.
func (t *Trace) NamePlaces(known int) []Place {
	return slices.Clone(t.stacks.places[min(max(known, 0), len(t.stacks.places)):])
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

// CallObjects names waits and holds at places by their objects, all places of an object as one.
// objects returns those of some places. It is called at the first lookup of a name, and by a
// Follower for later places. Package open calls CallObjects before the trace is read: names that
// were read before stay.
func (t *Trace) CallObjects(objects func([]Place) []Object) {
	t.askObjects = objects
	t.unnamed.Store(true)
}

// objectNames returns the objects' names of places; nil: places keep their names.
func (t *Trace) objectNames() *objectTable {
	if t.unnamed.Load() {
		t.naming.Lock()
		defer t.naming.Unlock()
		if t.unnamed.Load() {
			t.callObjects()
			t.unnamed.Store(false)
		}
	}
	return t.objects.Load()
}

// callObjects names the places that were added since its last call.
func (t *Trace) callObjects() {
	if t.askObjects == nil || t.named == len(t.stacks.places) {
		return
	}
	fresh := ofLocks(t.stacks.places[t.named:])
	t.named = len(t.stacks.places)
	o := &objectTable{map[uint16]string{}, map[uint16]uint16{}, map[Object]uint16{}, map[string]bool{}}
	if old := t.objects.Load(); old != nil {
		o = &objectTable{maps.Clone(old.text), maps.Clone(old.id), maps.Clone(old.of), maps.Clone(old.used)}
	}
	for i, x := range t.askObjects(fresh) {
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
