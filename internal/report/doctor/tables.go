package doctor

import (
	"strings"

	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// problem is a finding whose gain is a report.Float.
type problem struct {
	doctor.Finding
	Gain report.Float `json:"gain" unit:"0 to 1" compare:"worse"`
}

var problems = report.Table{Row: problem{}, Compare: "share, gain, confidence"}

func problemOf(f doctor.Finding) problem {
	return problem{f, report.Known(float64(f.Gain), f.Gain >= 0)}
}

// spent is a part of the cores' time.
type spent struct {
	doctor.Slice
	Share report.Float `json:"-" head:"share" unit:"0 to 1"`
	Bar   string       `json:"-" head:"bar" zero:""`
}

var spending = report.Table{
	Row:  spent{},
	Text: "  =name, cores, =share, =bar", Compare: "share, cores",
	Cells: report.CellsOf(map[string]func(spent) string{"name": func(s spent) string { return "  " + s.Name }}),
}

// spent returns where the cores' time went.
func (r found) spent() []spent {
	return report.RowsOf(r.Speedup, func(s doctor.Slice) spent {
		share := report.Known(s.Cores/r.Cores.Count, r.Cores.Count > 0)
		return spent{s, share, bar(share.N)}
	})
}

// atOnce is the share of the time in which so many goroutines ran at once.
type atOnce struct {
	Running int     `json:"-" head:"running" unit:"goroutines"`
	Share   float64 `json:"-" head:"time" unit:"0 to 1"`
	Bar     string  `json:"-" head:"bar" zero:""`
}

var parallelism = report.Table{Row: atOnce{}, Text: "running, time, =bar"}

// parts lays out the parts of a critical path.
var parts = report.Table{
	Row:  doctor.Part{},
	Text: "  scope=name, state, time=ns, share",
	Cells: report.CellsOf(map[string]func(doctor.Part) string{"name": func(x doctor.Part) string {
		if x.Name == "" {
			return "  (no scope)"
		}
		return "  " + report.Name(x.Name)
	}}),
}

// roots lays out what the slow executions of a scope have more.
var roots = report.Table{
	Row:   doctor.Root{},
	Text:  "  share=share, time=ns, what=text",
	Cells: report.CellsOf(map[string]func(doctor.Root) string{"share": func(x doctor.Root) string { return "  " + show.Percent(x.Share) }}),
}

// barWidth is the length of the bar for the whole, in characters.
const barWidth = 30

func bar(share float64) string { return strings.Repeat("#", int(share*barWidth+0.5)) }
