package pgo

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/pgo/source"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// checkDocument is a profile held against the source.
type checkDocument struct {
	// Share is null where no weight is of calls that the compiler could match.
	Share     *float64                 `json:"share" unit:"share" says:"that is found, of 'total' without 'never'; null: nothing could be matched"`
	Total     int64                    `json:"total" unit:"as in the profile" says:"of all calls"`
	Found     int64                    `json:"found" unit:"as in the profile" says:"of calls that the source has"`
	Lost      int64                    `json:"lost" unit:"as in the profile" says:"of calls that it has no more"`
	Never     int64                    `json:"never" unit:"as in the profile" says:"of calls that the compiler matches with no source"`
	Unknown   int64                    `json:"unknown" unit:"as in the profile" says:"of packages that are not in this build, or do not load"`
	Foreign   bool                     `json:"foreign" says:"hardly a caller exists: the profile is another program's"`
	Reasons   []reasonJSON             `json:"reasons"`
	Packages  report.List[packageJSON] `json:"packages"`
	Functions report.List[lostJSON]    `json:"lost_functions"`
	Failures  []failureJSON            `json:"failures"`
}

// reasonJSON is what became of some weight.
type reasonJSON struct {
	Reason string `json:"reason" says:"what became of calls, in words"`
	Weight int64  `json:"weight" unit:"as in the profile"`
}

// packageJSON is what became of the calls from a package.
type packageJSON struct {
	Path    string   `json:"path" says:"of the callers, as the linker has it; the heaviest comes first"`
	Total   int64    `json:"total" unit:"as in the profile"`
	Share   *float64 `json:"share" unit:"share" says:"as 'share'"`
	Lost    int64    `json:"lost" unit:"as in the profile"`
	Never   int64    `json:"never" unit:"as in the profile"`
	Unknown int64    `json:"unknown" unit:"as in the profile"`
}

// lostJSON is a function that is gone.
type lostJSON struct {
	Name   string `json:"name" says:"a function that is gone"`
	Weight int64  `json:"weight" unit:"as in the profile" says:"of the calls that are lost for it; the heaviest comes first"`
}

// failureJSON is a package that does not load.
type failureJSON struct {
	Path  string `json:"path" says:"a package that does not load"`
	Error string `json:"error" says:"what the go command or the type checker says"`
}

// unknown reports whether nothing is known of an edge.
func unknown(r source.Reason) bool { return !r.Found() && !r.Lost() && !r.Never() }

func shareOf(c *source.Counts) *float64 {
	if share, ok := c.Share(); ok {
		return &share
	}
	return nil
}

// Check reports how much of a profile today's source still has. Weights are in unit.
func Check(unit string, r *source.Report, failures []source.Failure) *report.Report {
	d := &checkDocument{
		Share: shareOf(&r.Counts), Total: r.Total(nil), Found: r.Total(source.Reason.Found), Lost: r.Total(source.Reason.Lost),
		Never: r.Total(source.Reason.Never), Unknown: r.Total(unknown), Foreign: r.Foreign, Reasons: []reasonJSON{}, Failures: []failureJSON{},
	}
	for why := range source.Reasons {
		if w := r.Counts[why]; w > 0 {
			d.Reasons = append(d.Reasons, reasonJSON{why.String(), w})
		}
	}
	for _, f := range failures {
		d.Failures = append(d.Failures, failureJSON{f.Package, f.Err.Error()})
	}
	d.Packages = report.ListOf(r.Packages, func(p source.PackageCounts) packageJSON {
		return packageJSON{p.Path, p.Total(nil), shareOf(&p.Counts), p.Total(source.Reason.Lost), p.Total(source.Reason.Never), p.Total(unknown)}
	})
	d.Functions = report.ListOf(r.Lost, func(f source.LostFunc) lostJSON { return lostJSON{f.Name, f.Weight} })
	return &report.Report{Document: d, Text: func(b *report.Text) { d.text(b, unit, r) }}
}

func shareText(share *float64) string {
	if share == nil {
		return ""
	}
	return percent(*share)
}

func (d *checkDocument) text(b *report.Text, unit string, r *source.Report) {
	if d.Share == nil {
		fmt.Fprintf(b, "nothing of the profile's %s could be matched with any source\n", amount(unit, d.Total))
	} else {
		fmt.Fprintf(b, "%s of the weight that can be matched is of calls that the source has\n", b.Bold(show.Percent(*d.Share)))
	}
	if d.Foreign {
		fmt.Fprintf(b, "%s\n", b.Red("hardly a caller of it exists: this is a profile of another program, or the packages of this one are not those that were named"))
	}
	for _, f := range d.Failures {
		fmt.Fprintf(b, "%s\n", b.Yellow(fmt.Sprintf("package %s does not load, so its functions are not known: %s", show.Name(f.Path), show.Text(f.Error))))
	}
	b.WriteByte('\n')
	report.Grid(b, "", []string{"%", "<", "<what became of the calls"}, d.Reasons, func(x reasonJSON) []string {
		return []string{percent(part(x.Weight, d.Total)), class(x.Reason), x.Reason}
	})
	b.WriteByte('\n')
	report.Grid(b, "package", []string{"%", "found %", "lost %", "<calls from package"}, r.Packages, func(p source.PackageCounts) []string {
		lost := ""
		if n := p.Total(source.Reason.Lost); n > 0 {
			lost = percent(part(n, p.Total(nil)-p.Total(source.Reason.Never)))
		}
		return []string{percent(part(p.Total(nil), d.Total)), shareText(shareOf(&p.Counts)), lost, report.Name(p.Path)}
	})
	if len(r.Lost) > 0 {
		b.WriteByte('\n')
		report.Grid(b, "function", []string{"%", "<function that is gone"}, r.Lost, func(f source.LostFunc) []string {
			return []string{percent(part(f.Weight, d.Total)), report.Name(f.Name)}
		})
	}
}

// class returns the word for a reason's class.
func class(text string) string {
	for why := range source.Reasons {
		switch {
		case why.String() != text:
		case why.Found():
			return "found"
		case why.Lost():
			return "lost"
		case why.Never():
			return "never matched"
		default:
			return "not known"
		}
	}
	return ""
}
