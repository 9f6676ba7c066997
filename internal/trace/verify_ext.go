package trace

import (
	"bytes"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// fixedSlots lists the slots with which the kinds' extensions always begin.
var fixedSlots = func() (fixed [128][]string) {
	for _, s := range format.Specs {
		fixed[s.Kind] = strings.Fields(s.Ext)
	}
	return fixed
}()

// extension checks the extension of the record r.
func (v *checker) extension(r *format.Record, x []byte, here int64) {
	fixed := fixedSlots[r.Kind()]
	if len(x) == 0 {
		if len(fixed) > 0 && !r.Ext() {
			v.add(here, "ext-fixed", "the record has no extension, and its kind has slots %v", fixed)
		}
		return
	}
	var err error
	if v.slots, err = format.DecodeExt(v.slots[:0], x); err != nil {
		v.add(here, "ext-slots", "%v", err)
		return
	}
	if v.again, err = format.AppendExt(v.again[:0], v.slots); err != nil || !bytes.Equal(v.again, x) {
		v.add(here, "ext-form", "the extension of %d bytes does not match its slots", len(x))
	}
	for i, name := range fixed {
		want := format.SlotType(slices.Index(format.SlotNames[:], name))
		if i >= len(v.slots) || v.slots[i].Type != want {
			v.add(here, "ext-fixed", "slot %d is not the kind's %s", i, name)
			return
		}
	}
	v.values(v.slots, len(fixed), here)
}

// values checks each slot's value and position.
func (v *checker) values(slots []format.Slot, fixed int, here int64) {
	link := format.LinkAt(slots)
	for i := range slots {
		s := &slots[i]
		var next format.SlotType
		if i+1 < len(slots) {
			next = slots[i+1].Type
		}
		switch s.Type {
		case format.SlotBool:
			v.check(s.Value <= 1, here, "ext-slots", "slot %d: a bool of %d", i, s.Value)
		case format.SlotString, format.SlotType_:
			v.check(s.Full >= len(s.Str), here, "ext-slots", "slot %d: %d bytes of a string that had %d", i, len(s.Str), s.Full)
		case format.SlotKey:
			v.check(v.defined(s.Value), here, "record-name", "slot %d: key %d is not defined", i, s.Value)
			v.check(next != format.SlotEnd && next != format.SlotKey && next != format.SlotCut, here, "ext-slots", "slot %d: a key without a value", i)
		case format.SlotGoid:
			v.check(s.Value <= format.MaxGoid, here, "ext-slots", "slot %d: goroutine %d", i, s.Value)
		case format.SlotBegin:
			b := format.Record{Head: s.Value}
			spec := b.Kind().Spec()
			v.check(s.Value == 0 || spec != nil && spec.Scope && v.defined(uint64(b.Name())), here, "ext-slots", "slot %d: %#x begins no scope", i, s.Value)
		case format.SlotAddr:
			v.check(i < fixed || link >= 0 && i >= link && i < link+format.LinkSlots, here, "ext-slots", "slot %d: an address that is neither the kind's nor one of the four of a link", i)
		case format.SlotCut:
			v.check(next == format.SlotEnd, here, "ext-slots", "slot %d: cut is not the last", i)
		default:
			v.check(format.SlotNames[s.Type&15] != "", here, "ext-slots", "slot %d: unknown type %d", i, s.Type)
		}
	}
}
