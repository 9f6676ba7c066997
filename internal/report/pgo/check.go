package pgo

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/pgo/source"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// checkDocument compares a profile with the source.
type checkDocument struct {
	// Share is null if the compiler could match none of the weight.
	Share     report.Float      `json:"share" unit:"share" says:"'found' of 'total' without 'never'; null: nothing could be matched"`
	Total     int64             `json:"total" unit:"as in the profile" says:"of all calls"`
	Found     int64             `json:"found" unit:"as in the profile" says:"of calls that are in the source"`
	Lost      int64             `json:"lost" unit:"as in the profile" says:"of calls that are no longer in it"`
	Never     int64             `json:"never" unit:"as in the profile" says:"of calls that the compiler never matches with source"`
	Unknown   int64             `json:"unknown" unit:"as in the profile" says:"of packages that are not in this build, or do not load"`
	Foreign   bool              `json:"foreign" says:"hardly any caller exists: the profile is another program's"`
	Reasons   []reason          `json:"reasons"`
	Packages  report.List[pkg]  `json:"packages"`
	Functions report.List[lost] `json:"lost_functions"`
	Failures  []failure         `json:"failures"`
}

// reason is the weight of the calls with one outcome.
type reason struct {
	Reason string `json:"reason" head:"what became of the calls" prose:"" says:"the fate of the calls, in a sentence"`
	Weight int64  `json:"weight" unit:"as in the profile"`

	Share float64 `json:"-" head:"%" unit:"share"` // of all
	Class string  `json:"-" head:"class"`
}

var reasons = report.Table{Row: reason{}, Text: "%, =class, what became of the calls"}

// pkg sums up the calls from a package.
type pkg struct {
	Path    string       `json:"path" head:"calls from package" says:"the callers' package, by the linker's path; the heaviest comes first"`
	Total   int64        `json:"total" unit:"as in the profile"`
	Share   report.Float `json:"share" head:"found %" unit:"share" says:"as 'share'"`
	Lost    int64        `json:"lost" unit:"as in the profile"`
	Never   int64        `json:"never" unit:"as in the profile"`
	Unknown int64        `json:"unknown" unit:"as in the profile"`

	Part      float64      `json:"-" head:"%" unit:"share"`              // of all
	LostShare report.Float `json:"-" head:"lost %" unit:"share" zero:""` // of what can be matched; unknown where nothing is lost
}

var packages = report.Table{Row: pkg{}, What: "package", Text: "%, found %, lost %, calls from package"}

// lost is a function that no longer exists.
type lost struct {
	Name   string `json:"name" says:"a function that no longer exists"`
	Weight int64  `json:"weight" unit:"as in the profile" says:"of the calls lost with it; the heaviest comes first"`

	Share float64 `json:"-" head:"%" unit:"share"` // of all
}

var lostFunctions = report.Table{Row: lost{}, What: "function", Text: "%, function that is gone=name"}

// failure is a package that does not load.
type failure struct {
	Path  string `json:"path" says:"a package that does not load"`
	Error string `json:"error" says:"the error of the go command or the type checker"`
}

// unknown reports whether the source of a call is not known.
func unknown(r source.Reason) bool { return !r.Found() && !r.Lost() && !r.Never() }

// Check reports how much of a profile the current source still has. Weights are in unit.
func Check(unit string, r *source.Report, failures []source.Failure) *report.Report {
	d := &checkDocument{
		Share: report.Known(r.Share()), Total: r.Total(nil), Found: r.Total(source.Reason.Found), Lost: r.Total(source.Reason.Lost),
		Never: r.Total(source.Reason.Never), Unknown: r.Total(unknown), Foreign: r.Foreign, Reasons: []reason{}, Failures: []failure{},
	}
	for why := range source.Reasons {
		if w := r.Counts[why]; w > 0 {
			d.Reasons = append(d.Reasons, reason{why.String(), w, part(w, d.Total), class(why)})
		}
	}
	for _, f := range failures {
		d.Failures = append(d.Failures, failure{f.Package, f.Err.Error()})
	}
	from := report.RowsOf(r.Packages, func(p source.PackageCounts) pkg {
		all, gone, never := p.Total(nil), p.Total(source.Reason.Lost), p.Total(source.Reason.Never)
		return pkg{p.Path, all, report.Known(p.Share()), gone, never, p.Total(unknown), part(all, d.Total), report.Known(part(gone, all-never), gone > 0)}
	})
	gone := report.RowsOf(r.Lost, func(f source.LostFunc) lost { return lost{f.Name, f.Weight, part(f.Weight, d.Total)} })
	d.Packages, d.Functions = report.All(from), report.All(gone)
	return &report.Report{Document: d, Text: func(b *report.Text) {
		d.text(b, unit)
		reasons.WriteAfter(b, d.Reasons)
		packages.WriteAfter(b, from)
		lostFunctions.WriteAfter(b, gone)
	}}
}

// text writes the text above the tables.
func (d *checkDocument) text(b *report.Text, unit string) {
	if d.Share.Kind == report.Unknown {
		fmt.Fprintf(b, "none of the profile's %s could be matched with source\n", amount(unit, d.Total))
	} else {
		fmt.Fprintf(b, "%s of the weight that can be matched belongs to calls in the source\n", b.Bold(show.Percent(d.Share.N)))
	}
	if d.Foreign {
		fmt.Fprintf(b, "%s\n", b.Red("hardly any of its callers exist: this is a profile of another program, or the wrong packages of this one were named"))
	}
	for _, f := range d.Failures {
		fmt.Fprintf(b, "%s\n", b.Yellow(fmt.Sprintf("package %s does not load, so its functions are not known: %s", show.Name(f.Path), show.Text(f.Error))))
	}
}

// class returns the word for a reason's class.
func class(why source.Reason) string {
	switch {
	case why.Found():
		return "found"
	case why.Lost():
		return "lost"
	case why.Never():
		return "never matched"
	}
	return "not known"
}
