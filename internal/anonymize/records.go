package anonymize

import (
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// fixed is the number of slots with which extensions of a kind always begin, -1 for a kind of a
// later version.
var fixed = func() (n [128]int) {
	for i := range n {
		n[i] = -1
	}
	for _, s := range format.Specs {
		n[s.Kind] = len(strings.Fields(s.Ext))
	}
	return n
}()

// lockBits mean that all waits for a lock are recorded, that its name is a place, and that it was
// held at least since the record's start.
const lockBits = format.LockEvery | format.LockPlace | format.LockSince

// records appends the copies of a chunk's records.
func (a *chunkCopy) records(b []byte, w format.Walk) ([]byte, error) {
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

// appendRecord appends the copy of a record.
func appendRecord(b []byte, r *format.Record, ext []byte) []byte {
	s := r.Kind().Spec()
	switch {
	case s.Scope && r.Open():
		r.CPU = 0 // has no meaning
	case !s.Scope && s.Word1 == "0":
		r.Stop, r.CPU = 0, 0
	}
	if r.Head = head(r.Head); len(ext) > 0 {
		r.Head |= format.ExtBit
	}
	return append(format.AppendRecord(b, r), ext...)
}

// head returns word 2 of a record without arguments. An end apart repeats that of its begin, so it
// must not depend on anything else.
func head(word uint64) uint64 {
	r := format.Record{Head: word}
	if fixed[r.Kind()&0x7f] <= 0 {
		word &^= format.ExtBit
	}
	return word
}

// keptSlots appends the extension of a record without arguments: the slots that its kind always
// has, an end's name, and a link. ok is false if the record has no meaning.
func (a *chunkCopy) keptSlots(dst []byte, r *format.Record, ext []byte) (kept []byte, ok bool) {
	n := fixed[r.Kind()&0x7f]
	if n < 0 || len(ext) == 0 {
		return dst, n >= 0
	}
	a.slots, _ = format.DecodeExt(a.slots[:0], ext)
	link := format.LinkAt(a.slots)
	if n == 0 && link < 0 {
		return dst, true
	}
	n = min(n, len(a.slots))
	for i := range n {
		switch s := &a.slots[i]; s.Type {
		case format.SlotAddr:
			s.Value = a.hash.address(s.Value)
		case format.SlotUser, format.SlotSystem, format.SlotLoc, format.SlotGoid, format.SlotBegin:
		default: // not a slot of the kind
			*s = format.Slot{Type: format.SlotCut}
		}
	}
	switch r.Kind() {
	case format.KindEnd:
		n += endSlots(a.slots[n:])
	case format.KindWait, format.KindHold:
		n += lockSlots(a.slots[n:])
	}
	var buf [2 + format.LinkSlots]format.Slot
	more := buf[:0]
	if i := n + format.RenamedAt(a.slots[n:]); i >= n && r.Kind() == format.KindEnd {
		more = append(more, a.slots[i:i+2]...)
	}
	if link >= n {
		a.hash.link(a.slots[link : link+format.LinkSlots])
		more = append(more, a.slots[link:link+format.LinkSlots]...)
	}
	kept, _ = format.AppendExt(dst, append(a.slots[:n], more...))
	return kept, true
}

// endSlots returns how many of the slots behind an end's fixed ones are not arguments: those of its
// begin, and of the process's CPU time.
func endSlots(slots []format.Slot) (n int) {
	if len(slots) > 0 && slots[0].Type == format.SlotBegin {
		slots[0].Value = head(slots[0].Value)
		n++
	}
	if n+1 < len(slots) && slots[n].Type == format.SlotUser && slots[n+1].Type == format.SlotSystem {
		n += 2
	}
	return n
}

// lockSlots is endSlots for a wait or a hold: the slots of the holder and the lock.
func lockSlots(slots []format.Slot) (n int) {
	if len(slots) < 2 || slots[0].Type != format.SlotGoid || slots[1].Type != format.SlotUint {
		return 0
	}
	v := slots[1].Value
	slots[1].Value = format.LockSlot(format.LockOf(v)) | v&lockBits
	return 2
}
