package trace

import (
	"bytes"
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
)

// carryTable holds the latest carry of each record of a ring that must be known after its chunk is
// overwritten.
type carryTable map[carryKey]*carried

// carryKey identifies a record. Its location alone is not enough: numbers begin again.
type carryKey struct {
	loc   format.Loc
	start int64
}

// carried is a record with a carry.
type carried struct {
	ticks int64 // of the carry
	rec   format.Record
	ext   []byte
	at    recordLoc

	// For a Follower; see follow_ring.go. A record that it has read itself has an entry too, but
	// hasCarry is false and rec is not set.
	hasCarry bool
	state    uint8
	stamp    int64 // the count of chunks when it was last mentioned
}

// carryBlock decodes a carry block. It does not check whether the chunk is gone: the writer writes
// the carry before it overwrites the chunk, and a chunk that is there now may be gone when Events
// reads it.
func (t *Trace) carryBlock(p []byte, _ format.Loc) error {
	c, err := format.DecodeCarry(p)
	if err != nil || !t.addr.reuses() {
		return err
	}
	if err := carries(&c.Record); err != nil {
		return err
	}
	if !t.addr.canHold(c.Loc) {
		return fmt.Errorf("%w: carry of a record at %d", format.ErrCorrupt, c.Loc)
	}
	if t.carried == nil {
		t.carried = carryTable{}
	}
	key := carryKey{c.Loc, c.Record.Start}
	x := t.carried[key]
	if x == nil {
		x = &carried{}
		t.carried[key] = x
	} else if x.ticks > c.Ticks {
		return nil
	}
	x.ticks, x.rec, x.ext, x.at, x.hasCarry = c.Ticks, c.Record, bytes.Clone(c.Ext), recordLoc{c.Loc, c.Thread, c.Owner, true}, true
	if t.onCarry != nil {
		t.onCarry(key)
	}
	return nil
}

// carries returns why r can't be carried, or nil.
func carries(r *format.Record) error {
	k := r.Kind()
	spec := k.Spec()
	if spec == nil || !spec.Scope && k != format.KindTrack && k != format.KindGo && k != format.KindMade {
		return fmt.Errorf("%w: carry of kind %v", format.ErrCorrupt, k)
	}
	if r.Start <= 0 || r.Start >= format.MaxTicks {
		return fmt.Errorf("%w: carry of a record that began at tick %d", format.ErrCorrupt, r.Start)
	}
	return nil
}

// gone returns the carried records of chunks that are no longer in the file.
func (c carryTable) gone(t *Trace) (list []*carried) {
	for key, x := range c {
		if t.addr.gone(key.loc, key.start) {
			list = append(list, x)
		}
	}
	return list
}

// of returns the carried records of the chunk c, for when it is found gone.
func (c carryTable) of(t *Trace, info *chunkInfo) (list []*carried) {
	for key, x := range c {
		if t.chunkLoc(key.loc) == info.loc && key.start >= info.Since {
			list = append(list, x)
		}
	}
	return list
}
