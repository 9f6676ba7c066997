package anonymize

import (
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// fixed is how many slots the extensions of a kind always begin with, -1 for a
// kind of a later version.
var fixed = func() (n [128]int) {
	for i := range n {
		n[i] = -1
	}
	for _, s := range format.Specs {
		n[s.Kind] = len(strings.Fields(s.Ext))
	}
	return n
}()

// lockBits say that all waits for a lock are recorded, and that its name is a place.
const lockBits = format.LockEvery | format.LockPlace

// records appends the records of the chunk in, of which used bytes are.
func (a *anonymizer) records(b []byte, used int) ([]byte, error) {
	w := format.WalkRecords(a.in[:used])
	for w.Next() {
		r := w.Record()
		ext, ok := a.keptSlots(a.ext[:0], &r, w.Ext())
		a.ext = ext
		if !ok {
			a.result.Dropped++
			continue
		}
		if r.Kind() == format.KindEnd && len(ext) > 0 {
			if err := a.redirect(ext, r.Stop); err != nil {
				return b, err
			}
		}
		b = appendRecord(b, &r, ext)
	}
	return b, nil
}

// appendRecord appends what is left of a record.
func appendRecord(b []byte, r *format.Record, ext []byte) []byte {
	s := r.Kind().Spec()
	switch {
	case s.Scope && r.Open():
		r.CPU = 0 // means nothing
	case !s.Scope && s.Word1 == "0":
		r.Stop, r.CPU = 0, 0
	}
	r.Head = head(r.Head)
	return append(format.AppendRecord(b, r), ext...)
}

// head is word 2 of a record without arguments. An end apart repeats that of its
// begin, so it must not depend on anything else.
func head(word uint64) uint64 {
	r := format.Record{Head: word}
	if fixed[r.Kind()&0x7f] <= 0 {
		word &^= format.ExtBit
	}
	return word
}

// keptSlots appends the extension of a record without arguments: the slots that
// its kind always has. ok is false if the record has no meaning.
func (a *anonymizer) keptSlots(dst []byte, r *format.Record, ext []byte) (kept []byte, ok bool) {
	n := fixed[r.Kind()&0x7f]
	if n <= 0 || len(ext) == 0 {
		return dst, n >= 0
	}
	a.slots, _ = format.DecodeExt(a.slots[:0], ext)
	slots := a.slots
	if r.Kind() == format.KindEnd {
		if n < len(slots) && slots[n].Type == format.SlotBegin {
			slots[n].Value = head(slots[n].Value)
			n++
		}
		if n+1 < len(slots) && slots[n].Type == format.SlotUser && slots[n+1].Type == format.SlotSystem {
			n += 2
		}
	}
	lock := (r.Kind() == format.KindWait || r.Kind() == format.KindHold) && n+1 < len(slots) &&
		slots[n].Type == format.SlotGoid && slots[n+1].Type == format.SlotUint
	if lock {
		v := slots[n+1].Value
		slots[n+1].Value = format.LockSlot(format.LockOf(v)) | v&lockBits
		n += 2
	}
	slots = slots[:min(n, len(slots))]
	for i := range slots {
		switch s := &slots[i]; {
		case s.Type == format.SlotAddr:
			s.Value = a.hash.address(s.Value)
		case lock && i == n-1: // what kind it is, and how it is wanted
		case s.Type == format.SlotUser, s.Type == format.SlotSystem, s.Type == format.SlotLoc, s.Type == format.SlotGoid, s.Type == format.SlotBegin:
		default: // not the kind's
			*s = format.Slot{Type: format.SlotCut}
		}
	}
	kept, _ = format.AppendExt(dst, slots)
	return kept, true
}
