package states

import (
	"testing"

	"github.com/scopeview/scopeview/internal/gotrace"
)

// FuzzJoin: whatever a Go execution trace contains, in whatever order, a goroutine's
// intervals follow each other and add up to its life.
func FuzzJoin(f *testing.F) {
	f.Add([]byte{0, 3, 10, 1, 4, 20, 1, 5, 30, 0, 2, 40})
	f.Add([]byte{0x40, 0, 10, 1, 3, 20, 0x41, 0, 5, 0x42, 0, 5, 0x43, 0, 9})
	f.Add([]byte{0x13, 3, 200, 0x23, 4, 0, 0x33, 5, 100, 0x13, 1, 255})
	f.Add([]byte("0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		last := map[uint64]int64{}
		j := joinerOf(t, func(v *Interval) {
			if at, ok := last[v.Goid]; ok && at != v.From || v.To <= v.From || v.State >= Count {
				t.Errorf("%+v, behind one to %d", v, at)
			}
			last[v.Goid] = v.To
		})
		was := map[uint64]gotrace.GoState{}
		at := int64(0)
		for ; len(b) >= 3; b = b[3:] {
			at += int64(b[2])
			goid := uint64(b[0]>>4&3) + 1
			r := gotrace.Range{From: at, To: at, Name: []string{"stop-the-world (x)", "GC mark assist"}[b[0]&1]}
			if b[0]&1 == 1 {
				r.Goid = goid
			}
			switch b[0] >> 6 {
			case 1:
				if b[0]&2 == 0 {
					j.begun(&r)
				} else {
					j.ended(&r)
				}
			default:
				to := gotrace.GoState(b[1] % 6)
				tr := gotrace.Transition{
					Time: at - int64(b[0]&8), Goid: goid, From: was[goid], To: to, Thread: uint32(11 + b[1]>>4&3), Stack: uint32(b[0] & 3),
					Reason: []string{"", "sync", "select", "forever"}[b[1]>>6],
				}
				was[goid] = to
				j.transition(&tr)
			}
		}
		j.info.To = at
		j.finish()
		some := false
		for id, g := range j.facts.Goroutines {
			if g.To < g.From {
				t.Errorf("goroutine %d lives from %d to %d", id, g.From, g.To)
			}
			some = some || g.To > g.From
		}
		j.facts.checkSum()
		if c := &j.facts.Checks.Sum; c.Known != some || some && !c.OK {
			t.Error(c.Text)
		}
	})
}
