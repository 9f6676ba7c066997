package trace

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// TestDisjointBreaks checks that across gives the same result with the joined breaks as with the
// original ones.
func TestDisjointBreaks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	across := 0
	for range 5000 {
		var raw []rawBreak
		for range rnd.IntN(6) {
			from := rnd.Int64N(20)
			raw = append(raw, rawBreak{from, from + rnd.Int64N(6)})
		}
		tr := &Trace{addr: linear{}, breaks: disjoint(slices.Clone(raw)), header: format.Header{ChunkSize: 4096}}
		d := decoder{t: tr, problems: problems{}}
		for range 20 {
			start := rnd.Int64N(22)
			stop := start + rnd.Int64N(6)
			want := slices.ContainsFunc(raw, func(b rawBreak) bool { return start < b.to && stop > b.from })
			e := Event{Quality: format.Exact}
			d.checkBreaks(&e, start, stop)
			if got := e.Quality == format.Unknown; got != want {
				t.Fatalf("%d to %d across %v, which is %v: %v", start, stop, raw, tr.breaks, got)
			}
			if want {
				across++
			}
		}
	}
	if across < 10_000 {
		t.Errorf("only %d were across", across)
	}
}
