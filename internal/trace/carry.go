package trace

import (
	"bytes"
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
)

// carryTable is what the carry blocks of a ring tell: records that are still to be
// known when their chunk is overwritten, each as it was told last.
type carryTable map[carryKey]*carried

// carryKey is which record. Its place alone is not enough: numbers begin again.
type carryKey struct {
	loc   format.Loc
	start int64
}

// carried is a record that was told of.
type carried struct {
	ticks int64 // when
	rec   format.Record
	ext   []byte
	where where

	// A Follower's; see follow_ring.go. To it what it has read itself is as good as
	// told, but that the record is not known.
	told  bool
	state uint8
	stamp int64 // its count of chunks when it last heard of it
}

// carryBlock takes in a carry block. Which chunks are gone is not asked yet: the
// writer tells before it overwrites, and what is there now may be gone when
// Events comes to it.
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
	x.ticks, x.rec, x.ext, x.where, x.told = c.Ticks, c.Record, bytes.Clone(c.Ext), where{c.Loc, c.Thread, c.Owner, true}, true
	if t.onCarry != nil {
		t.onCarry(key)
	}
	return nil
}

// carries returns why r is nothing that is carried.
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

// gone lists what is carried of chunks that the file does not have any more.
func (c carryTable) gone(t *Trace) (list []*carried) {
	for key, x := range c {
		if t.addr.gone(key.loc, key.start) {
			list = append(list, x)
		}
	}
	return list
}

// of lists what is carried of the chunk c, for when it is found gone.
func (c carryTable) of(t *Trace, info *chunkInfo) (list []*carried) {
	for key, x := range c {
		if t.chunkLoc(key.loc) == info.loc && key.start >= info.Since {
			list = append(list, x)
		}
	}
	return list
}
