package doctor

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// mostSteps is the maximum number of steps of the critical path in a report: more than a
// page has pixels.
const mostSteps = 3000

// steps stores in p the longest steps of last's critical path, if Options.Drawn is set.
func (m *model) steps(p *Path, last *gor) {
	if !m.drawn {
		return
	}
	var all [][3]int64 // from the last to the first
	m.walk(last, m.from, m.to, func(g *gor, a, b int64, _ states.State) {
		if n := len(all); n > 0 && all[n-1][0] == int64(g.id) && all[n-1][1] == b {
			all[n-1][1] = a
		} else if b > a {
			all = append(all, [3]int64{int64(g.id), a, b})
		}
	})
	p.AllSteps = len(all)
	slices.SortFunc(all, func(a, b [3]int64) int { return cmp.Or(cmp.Compare(b[2]-b[1], a[2]-a[1]), cmp.Compare(a[1], b[1])) })
	p.Steps = slices.Clone(all[:min(len(all), mostSteps)])
	slices.SortFunc(p.Steps, func(a, b [3]int64) int { return cmp.Compare(a[1], b[1]) })
}

// partly returns the gains of the run if the scopes of a name took 3/4, 1/2 and 1/4 of their
// own time; nil unless Options.Drawn is set.
func (m *model) partly(name int32) (gains []float64) {
	if !m.drawn {
		return nil
	}
	for _, left := range []float64{0.75, 0.5, 0.25} {
		gains = append(gains, m.base.gain(without{scale: func(_ *script, s *step) float64 {
			if s.kind == stepRun && s.name == name {
				return left
			}
			return 1
		}}))
	}
	return gains
}
