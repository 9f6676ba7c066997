package trace

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// Beat is one heartbeat.
type Beat struct {
	Time    int64 // ns from the trace's start
	Values  []format.FieldValue
	Threads []format.Thread
}

// Value returns a field's value; ok is false if it is unknown.
func (b *Beat) Value(f format.Field) (v int64, ok bool) {
	for _, x := range b.Values {
		if x.Field == f {
			return x.Value, true
		}
	}
	return 0, false
}

// beatRef is the location of a beat block, or of a beat's thread block. A beat has some two
// kilobytes, and a program that runs for days has a hundred thousand of them each day: only their
// locations are kept.
type beatRef struct {
	ticks int64
	loc   format.Loc
}

func (t *Trace) beatBlock(p []byte, loc format.Loc) error {
	ticks, vs, err := format.DecodeBeat(nil, p)
	if err != nil {
		return err
	}
	t.beats = append(t.beats, beatRef{ticks, loc})
	if ticks >= t.latest {
		t.latest, t.lastValues = ticks, vs
	}
	return nil
}

func (t *Trace) threadBlock(p []byte, loc format.Loc) error {
	ticks, _, err := format.DecodeThreads(nil, p)
	if err == nil {
		t.beats = append(t.beats, beatRef{ticks, loc})
	}
	return err
}

// LastBeat returns the last heartbeat without its threads; ok is false if there is
// none.
func (t *Trace) LastBeat() (b Beat, ok bool) {
	return Beat{Time: t.Nanos(t.latest), Values: t.lastValues}, t.latest > 0
}

// maxBeatValues bounds the values of a beat: many times the number of fields.
const maxBeatValues = 1024

// EachBeat calls f with every heartbeat by time, until f returns false. The
// beat is reused from call to call.
func (t *Trace) EachBeat(f func(*Beat) bool) error { return t.eachBeat(t.beats, f) }

// EachBeatBetween is EachBeat for the beats after one time and up to another, ns from the trace's
// start.
func (t *Trace) EachBeatBetween(after, until int64, f func(*Beat) bool) error {
	behind := func(ns int64) int {
		return sort.Search(len(t.beats), func(i int) bool { return t.Nanos(t.beats[i].ticks) > ns })
	}
	from := behind(after)
	return t.eachBeat(t.beats[from:max(behind(until), from)], f)
}

func (t *Trace) eachBeat(beats []beatRef, f func(*Beat) bool) error {
	var b Beat
	var r blockReader
	met := false
	for i, ref := range beats {
		typ, p, err := r.read(t, ref.loc)
		if err != nil && err != errGone { // else its beats are gone with it
			return err
		}
		if err == nil && len(p) >= 8 && int64(binary.LittleEndian.Uint64(p)) == ref.ticks { // else the file was changed
			switch typ {
			case format.BlockBeat:
				_, b.Values, _ = format.DecodeBeat(b.Values, p)
				b.Values = b.Values[:min(len(b.Values), maxBeatValues)]
				met = true
			case format.BlockThread:
				_, b.Threads, _ = format.DecodeThreads(b.Threads, p)
				met = true
			}
		}
		if i+1 < len(beats) && beats[i+1].ticks == ref.ticks {
			continue // the same beat continues
		}
		if !met {
			continue
		}
		met = false
		b.Time = t.Nanos(ref.ticks)
		if !f(&b) {
			return nil
		}
		b.Values, b.Threads = b.Values[:0], b.Threads[:0]
	}
	return nil
}

// Beats returns the heartbeats by time. It keeps them all in memory from then on; EachBeat does
// not.
func (t *Trace) Beats() []Beat {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.allBeats == nil {
		err := t.EachBeat(func(b *Beat) bool {
			t.allBeats = append(t.allBeats, Beat{b.Time, slices.Clone(b.Values), slices.Clone(b.Threads)})
			return true
		})
		if err != nil {
			t.openProblems.set("not all heartbeats could be read: "+err.Error(), 1)
		}
	}
	return t.allBeats
}

// sortBeats sorts the beats after blocks were read.
func (t *Trace) sortBeats() {
	slices.SortStableFunc(t.beats, func(a, b beatRef) int { return cmp.Compare(a.ticks, b.ticks) })
	t.allBeats = nil
}
