package timeline

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// beats are the heartbeats, in columns. user, sys and gc are differences to the beat before;
// null is unknown.
type beats struct {
	Time       []int64  `json:"time"`
	User       []*int64 `json:"user"`
	System     []*int64 `json:"sys"`
	RSS        []*int64 `json:"rss"`
	Heap       []*int64 `json:"heap"`
	Goroutines []*int64 `json:"goroutines"`
	GC         []*int64 `json:"gc"`
}

// beatsKept is the maximum number of beats of a page: more than it has pixels, even zoomed.
// A page of a longer recording has every n-th beat; differences are to the last one that it has.
const beatsKept = 20_000

func beatsOf(t *trace.Trace) beats {
	b := beats{Time: []int64{}, User: []*int64{}, System: []*int64{}, RSS: []*int64{}, Heap: []*int64{}, Goroutines: []*int64{}, GC: []*int64{}}
	all := t.Beats()
	step := (len(all) + beatsKept - 1) / beatsKept
	var before *trace.Beat
	for i := range all {
		if step > 1 && i%step != 0 && i != len(all)-1 {
			continue
		}
		beat := &all[i]
		b.Time = append(b.Time, beat.Time)
		b.User = append(b.User, grown(before, beat, format.FieldUser))
		b.System = append(b.System, grown(before, beat, format.FieldSystem))
		b.GC = append(b.GC, grown(before, beat, format.FieldGCCycles))
		b.RSS = append(b.RSS, known(beat, format.FieldRSS))
		b.Heap = append(b.Heap, known(beat, format.FieldHeap))
		b.Goroutines = append(b.Goroutines, known(beat, format.FieldGoroutines))
		before = beat
	}
	return b
}

func known(b *trace.Beat, f format.Field) *int64 {
	if v, ok := b.Value(f); ok {
		return &v
	}
	return nil
}

// grown returns the growth of a field since the beat before; nil if it is not known.
func grown(before, b *trace.Beat, f format.Field) *int64 {
	if before == nil {
		return nil
	}
	from, ok := before.Value(f)
	to, ok2 := b.Value(f)
	if !ok || !ok2 || to < from {
		return nil
	}
	d := to - from
	return &d
}

// cpus returns the number of CPUs that the process may use, 0 if that is not known.
func cpus(t *trace.Trace) float64 {
	last, _ := t.LastBeat()
	n := 0.0
	for _, f := range []format.Field{format.FieldGOMAXPROCS, format.FieldCPUs, format.FieldCPULimit} {
		v, ok := last.Value(f)
		if !ok || v <= 0 {
			continue
		}
		limit := float64(v)
		if f == format.FieldCPULimit {
			limit /= 1000
		}
		if n == 0 || limit < n {
			n = limit
		}
	}
	return n
}
