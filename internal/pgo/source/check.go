package source

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
)

// Counts has the weights of edges by reason.
type Counts [Reasons]int64

// Report compares a profile with the source.
type Report struct {
	Counts
	Packages []PackageCounts // of the callers, the heaviest first
	Lost     []LostFunc      // functions that are gone, the heaviest first
	Foreign  bool            // the profile is of another program
}

// PackageCounts has the Counts of the callers of a package.
type PackageCounts struct {
	Path string // the linker's
	Counts
}

// LostFunc is a function of the profile that the source does not have.
type LostFunc struct {
	Name   string
	Weight int64 // of the edges lost because of it
}

// Total returns the weight of all edges, or of those whose reason satisfies of.
func (c *Counts) Total(of func(Reason) bool) int64 {
	sum := int64(0)
	for r, w := range c {
		if of == nil || of(Reason(r)) {
			sum += w
		}
	}
	return sum
}

// Share returns the fraction of the weight that is found, 0 to 1, among edges that the compiler
// can match. ok is false if there are none, or all are in packages that do not load.
func (c *Counts) Share() (share float64, ok bool) {
	all := c.Total(nil) - c.Total(Reason.Never)
	if all == c[NotLoaded] {
		return 0, false
	}
	return float64(c.Total(Reason.Found)) / float64(all), true
}

// foreignShare is the minimum share of the weight with a caller outside the standard library
// whose caller or callee exists; below it the profile is of another program.
const foreignShare = 0.05

// Check compares the edges of a profile with the source.
func (s *Source) Check(edges *pgo.Edges) *Report {
	r := &Report{}
	byPkg := map[string]*PackageCounts{}
	lost := map[string]int64{}
	var outside, known int64
	for e, w := range edges.Weight {
		why := s.Reason(e)
		pkg, _ := split(fold(e.Caller))
		c := byPkg[pkg]
		if c == nil {
			c = &PackageCounts{Path: pkg}
			byPkg[pkg] = c
		}
		c.Counts[why] += w
		r.Counts[why] += w
		switch why {
		case CallerGone:
			lost[e.Caller] += w
		case CalleeGone:
			lost[e.Callee] += w
		}
		if u := s.pkgs[pkg]; pkg != "" && (u == nil || !u.std) {
			outside += w
			if u != nil && u.err != nil || s.funcs[fold(e.Caller)] != nil || s.funcs[fold(e.Callee)] != nil {
				known += w
			}
		}
	}
	r.Foreign = outside > 0 && float64(known) < foreignShare*float64(outside)
	for _, c := range byPkg {
		r.Packages = append(r.Packages, *c)
	}
	slices.SortFunc(r.Packages, func(a, b PackageCounts) int {
		return cmp.Or(cmp.Compare(b.Total(nil), a.Total(nil)), cmp.Compare(a.Path, b.Path))
	})
	for name, w := range lost {
		r.Lost = append(r.Lost, LostFunc{name, w})
	}
	slices.SortFunc(r.Lost, func(a, b LostFunc) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Name, b.Name))
	})
	return r
}
