package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
)

// Params are the parameters of a report; see Conf for their names.
type Params struct {
	Count      int             // maximum number of pieces of advice, and of characteristics
	LeastNS    float64         // minimum gain in time per run
	LeastShare float64         // and as a share of the counted time
	LeastBytes float64         // minimum gain in memory per run
	Off        map[string]bool // disabled diagnostics and groups, by name or by the original's
	In         func(function string) bool
	Std        bool // include code within the standard library
	PerStack   bool // a finding for each call stack, not for each place
	Statistics bool // the characteristics of all places, including those with advice
	Weights    Weights
}

// DefaultParams returns the default parameters.
func DefaultParams() Params {
	return Params{Count: 10, LeastNS: 100e3, LeastShare: 0.001, LeastBytes: 1 << 20, Weights: BuiltIn(), Off: map[string]bool{}}
}

// Finding is a piece of advice.
type Finding struct {
	ID          string   `json:"id" head:"diagnostic" says:"the diagnostic, one of 'advise --list'; names are never used again for something else"`
	Original    string   `json:"original" says:"the diagnostic's name in GCC's Profile Mode; may be empty"`
	Group       string   `json:"group" says:"of the diagnostic"`
	Improvement int      `json:"improvement" unit:"log10" says:"of the number of small operations that it saves; negative: it adds some"`
	NS          int64    `json:"ns" head:"saves" unit:"ns" says:"the time that it saves in all runs, by the weights; negative: it takes longer"`
	Share       float64  `json:"share" head:"%" unit:"0 to 1" says:"the part of the CPU time of the runs that it saves"`
	Bytes       int64    `json:"bytes" head:"memory" unit:"bytes" says:"the memory that it saves in all runs"`
	Site        string   `json:"site" head:"place" says:"the place to change: function, file and line"`
	Stack       []string `json:"stack" says:"the call stack that gains most, innermost first"`
	Stacks      int      `json:"stacks" unit:"count" says:"call stacks that lead there"`
	Type        string   `json:"type" says:"of elements, or of the map; may be empty"`
	Advice      string   `json:"advice" says:"what to do, with numbers"`
	Evidence    []string `json:"evidence" says:"the measured facts"`
	Stoppers    []string `json:"stoppers" says:"reasons against it, from the observed use"`
	Fix         Fix      `json:"fix"`
	Runs        int      `json:"runs" unit:"count" says:"that have it"`
}

// Report is the advice on a program.
type Report struct {
	Program  string           `json:"program" says:"its main package, or 'tests of' its module"`
	Go       string           `json:"go" says:"the version of Go that the program is built with"`
	Runs     int              `json:"runs" unit:"count"`
	Seconds  float64          `json:"seconds" unit:"s" says:"total length of the counted runs"`
	CPUNS    int64            `json:"cpu_ns" unit:"ns" says:"the CPU time of all runs; 0: not known"`
	Looked   float64          `json:"looked" unit:"0 to 1" says:"share of the time in which operations were sampled"`
	Findings []Finding        `json:"findings"`
	More     int              `json:"more" unit:"count" says:"findings that '--count' cuts off"`
	Small    int              `json:"small" unit:"count" says:"findings that are not worth a change"`
	Hidden   int              `json:"hidden" unit:"rows" says:"left out, because the standard library makes the objects for itself"`
	Worst    []Characteristic `json:"worst"`
	// Statistics says that Worst has all places, not only the most expensive ones without a remedy.
	Statistics bool     `json:"statistics" says:"'worst' has all places, not only the costliest without a remedy"`
	Changes    []Change `json:"changes,omitempty" says:"with '--diff'; absent: nothing became worse or better"`
	Lost       []string `json:"lost" says:"operations not counted, and why"`
	Notes      []string `json:"notes" says:"unusable parts of the files"`
	Damage     []string `json:"damage" says:"damaged parts of the raw files, such as a cut end; the exit code is then 1"`
}

// Of returns the advice on the program of d.
func Of(d *Data, p Params) *Report {
	rep := &Report{Program: d.Program, Go: d.Go, Runs: d.Runs, Seconds: d.NS / 1e9, CPUNS: int64(d.CPU), Looked: d.Looked, Notes: d.Notes, Damage: append([]string{}, d.Damage...), Lost: lost(d.Lost), Statistics: p.Statistics}
	runs := float64(max(d.Runs, 1))
	reported, sites := map[*place]bool{}, map[string]bool{}
	all, hidden := places(d, p)
	rep.Hidden = hidden
	for _, rule := range Rules {
		if p.off(&rule) {
			continue
		}
		for _, at := range all {
			r := at.Row
			if !slices.Contains(rule.Kinds, r.Kind) || p.In != nil && !inside(r, p.In) || rule.Rest && sites[r.Site()] {
				continue
			}
			j := rule.Judge(r, p.Weights)
			if j.Advice == "" {
				continue
			}
			if all := d.time(); all > 0 && j.NS > all/2 {
				j.NS = all / 2
				j.Stoppers = append(j.Stoppers, "the estimate exceeded half of the run, which bounds it: it is very uncertain")
			}
			f := Finding{ID: rule.ID, Original: rule.Original, Group: rule.Group, Improvement: j.Improvement(), NS: int64(j.NS), Bytes: int64(j.Bytes),
				Site: r.Site(), Stack: at.stack(&rule, p.Weights), Stacks: len(at.rows), Type: r.Type, Advice: j.Advice, Evidence: j.Evidence, Stoppers: j.Stoppers, Fix: j.Fix, Runs: r.Runs}
			if all := d.time(); all > 0 {
				f.Share = j.NS / all
			}
			if !(j.NS >= p.LeastNS*runs && f.Share >= p.LeastShare || j.NS >= 0 && j.Bytes >= p.LeastBytes*runs) {
				rep.Small++
				continue
			}
			reported[at], sites[r.Site()] = true, true
			rep.Findings = append(rep.Findings, f)
		}
	}
	slices.SortStableFunc(rep.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.worth(), a.worth()), cmp.Compare(a.Site, b.Site), cmp.Compare(a.ID, b.ID))
	})
	if p.Count > 0 && len(rep.Findings) > p.Count {
		rep.More = len(rep.Findings) - p.Count
		rep.Findings = rep.Findings[:p.Count]
	}
	rep.Worst = worst(d, all, p, reported)
	return rep
}

// time returns the CPU time of the runs, or the wall time if that is not known.
func (d *Data) time() float64 {
	if d.CPU > 0 {
		return d.CPU
	}
	return d.NS
}

// worth returns the rank of advice: time in ns, and for memory the cost of allocating it
// once.
func (f *Finding) worth() float64 { return float64(f.NS) + float64(f.Bytes)*BuiltIn()[allocByte]/10 }

func (p *Params) off(r *Rule) bool { return p.Off[r.ID] || p.Off[r.Original] || p.Off[r.Group] }

// inside reports whether a row's own frame is in the selected packages.
func inside(r *Row, in func(function string) bool) bool {
	name, _, _ := strings.Cut(r.Site(), " ")
	return in(name)
}

// lost describes what is not counted.
func lost(by map[string]int64) (list []string) {
	for why, n := range by {
		what, kind, _ := strings.Cut(why, ".")
		switch what {
		case "stacks":
			list = append(list, fmt.Sprintf("%s creations and uses are not counted: the table of call stacks is full", show.Count(n)))
		case "full":
			list = append(list, fmt.Sprintf("a %s was not followed %s: the memory for followed objects was full", kind, show.Plural(n, "time")))
		case "busy":
			list = append(list, fmt.Sprintf("operations of a %s were not counted %s: its part of the table was locked", kind, show.Plural(n, "time")))
		case "aged":
			list = append(list, fmt.Sprintf("following a %s was stopped, to make room, %s", kind, show.Plural(n, "time")))
		case "rate":
			list = append(list, "allocation sites are not known: the program sets runtime.MemProfileRate")
		default:
			list = append(list, fmt.Sprintf("%s: %s", why, show.Count(n)))
		}
	}
	slices.Sort(list)
	return list
}
