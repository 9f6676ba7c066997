package scale

import (
	"cmp"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/report/membench"
	"github.com/scopeview/scopeview/internal/runs"
)

// maxError is the largest deviation of the medians from the law, as the root of the mean square,
// from which anything is concluded.
const maxError = 0.1

// document is the content of the scale report. Times are integer nanoseconds.
type document struct {
	Command []string    `json:"command"`
	CPUs    int         `json:"cpus" unit:"CPUs" says:"that the runs could use"`
	Points  []point     `json:"points"` // by procs
	Names   []inflation `json:"names"`  // by growth of CPU time, largest first; empty: nothing was recorded
	// Fit is null if Refused gives a reason.
	Fit      *fitted          `json:"fit" says:"of the Universal Scalability Law; null: 'refused' says why"`
	Peak     *float64         `json:"peak" unit:"processors" says:"number with which it would be fastest; null: there is none, or no good fit"`
	Dominant loss             `json:"dominant" says:"the larger loss on the most processors; empty: no good fit"`
	Refused  string           `json:"refused,omitempty" says:"why there is no fit"`
	Warnings []string         `json:"warnings" says:"limits of the numbers"`
	Memory   *membench.Result `json:"memory" says:"with '--membench': as 'scopeview membench'"`
}

// point sums up the runs with one number of processors.
type point struct {
	Procs     int     `json:"procs" head:"GOMAXPROCS" unit:"processors" says:"GOMAXPROCS"`
	Runs      int     `json:"runs" unit:"runs"`
	Wall      int64   `json:"wall_ns" unit:"ns" says:"the median"`
	Least     int64   `json:"wall_min_ns" head:"from" unit:"ns"`
	Most      int64   `json:"wall_max_ns" head:"to" unit:"ns"`
	CPU       int64   `json:"cpu_ns" head:"CPU" unit:"ns" says:"the median"`
	Speedup   float64 `json:"speedup" head:"speed-up" unit:"ratio" says:"over the first point"`
	Inflation float64 `json:"cpu_factor" head:"CPU factor" unit:"ratio" zero:"-" says:"over that of the first point"`
	Beyond    bool    `json:"beyond_cpus" head:"more than CPUs" says:"more than there are CPUs"`
}

// inflation holds the CPU time of one execution of a name's scopes, by number of processors.
type inflation struct {
	Name string  `json:"name"`
	CPU  []int64 `json:"cpu_ns" unit:"ns" says:"per execution, by point; -1: known of less than half of them"`
	// Factor is the last known value over the first; 0: not known.
	Factor float64 `json:"factor" unit:"ratio" says:"the last known one over the first; 0: not known"`
}

// summarize returns the document of the runs.
func summarize(list []run, cpus int) *document {
	r := &document{CPUs: cpus, Points: []point{}, Names: []inflation{}}
	by := map[int][]run{}
	var samples []sample
	for _, x := range list {
		by[x.Procs] = append(by[x.Procs], x)
	}
	procs := slices.Sorted(maps.Keys(by))
	for _, p := range procs {
		walls, used := []int64{}, []int64{}
		for _, x := range by[p] {
			walls = append(walls, x.Wall)
			used = append(used, x.User+x.System)
		}
		pt := point{Procs: p, Runs: len(walls), Wall: runs.Median(walls), Least: slices.Min(walls), Most: slices.Max(walls), CPU: runs.Median(used), Beyond: p > cpus}
		first := &pt
		if len(r.Points) > 0 {
			first = &r.Points[0]
		}
		pt.Speedup = float64(first.Wall) / float64(max(pt.Wall, 1))
		if first.CPU > 0 {
			pt.Inflation = float64(pt.CPU) / float64(first.CPU)
		}
		r.Points = append(r.Points, pt)
		samples = append(samples, sample{p, float64(pt.Wall)})
	}
	r.names(procs, by)
	fit, err := fitUSL(samples)
	if err != nil {
		r.Refused = err.Error()
		return r
	}
	r.Fit = &fit
	if fit.Error > maxError {
		return r
	}
	r.Dominant = fit.dominant(float64(procs[len(procs)-1]))
	if n, ok := fit.peak(); ok {
		r.Peak = &n
	}
	return r
}

// names compares the cost of one execution, by name.
func (r *document) names(procs []int, by map[int][]run) {
	sums := map[string][]Name{}
	for i, p := range procs {
		for _, x := range by[p] {
			for name, n := range x.Names {
				s := sums[name]
				if s == nil {
					s = make([]Name, len(procs))
					sums[name] = s
				}
				s[i].Count += n.Count
				s[i].Known += n.Known
				s[i].CPU += n.CPU
			}
		}
	}
	for name, s := range sums {
		x := inflation{Name: name}
		first, last := int64(-1), int64(-1)
		for _, n := range s {
			each := int64(-1)
			if n.Known > 0 && 2*n.Known >= n.Count {
				each = n.CPU / n.Known
				if first < 0 {
					first = each
				} else {
					last = each
				}
			}
			x.CPU = append(x.CPU, each)
		}
		if first > 0 && last >= 0 {
			x.Factor = float64(last) / float64(first)
		}
		r.Names = append(r.Names, x)
	}
	slices.SortFunc(r.Names, func(a, b inflation) int {
		return cmp.Or(cmp.Compare(b.Factor, a.Factor), cmp.Compare(a.Name, b.Name))
	})
}
