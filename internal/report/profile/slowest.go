package profile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// slowest compares the slow executions of a scope with the others.
type slowest struct {
	*View
	metrics []contrast
	sites   []siteContrast
}

// contrast is a row: the values of a metric in one slow execution and in one of the others.
type contrast struct {
	Metric string  `json:"metric" head:"what"`
	Slow   float64 `json:"slow_ns" unit:"ns" says:"of one slow execution"`
	Others float64 `json:"others_ns" unit:"ns" says:"of one other execution"`

	More   float64 `json:"-" head:"difference" unit:"ns"`
	metric int
}

// siteContrast is a contrast at one site.
type siteContrast struct {
	contrast
	Function string `json:"function" head:"where" says:"the program's innermost function there"`
	File     string `json:"file"`
	Line     int    `json:"line" unit:"line"`
}

var (
	contrasts = report.Table{
		Row:  contrast{},
		What: "metric", Text: "slow, others, difference, what",
		Cells: report.CellsOf(map[string]func(contrast) string{"difference": contrast.signed}),
	}
	siteContrasts = report.Table{
		Row:  siteContrast{},
		What: "place", Text: "slow, others, difference, what, where",
		Cells: report.CellsOf(map[string]func(siteContrast) string{
			"difference": func(p siteContrast) string { return p.signed() },
			"where":      func(p siteContrast) string { return show.Name(p.Function + ", " + show.Place(p.File, p.Line)) },
		}),
	}
)

// slowestDocument is slowest as a document; times are per execution.
type slowestDocument struct {
	Slow    int64          `json:"slow" unit:"executions" says:"the slow ones"`
	Others  int64          `json:"others" unit:"executions"`
	Limit   int64          `json:"limit_ns" unit:"ns" says:"the slow ones are at least as long"`
	Metrics []contrast     `json:"metrics"`
	Places  []siteContrast `json:"places"`
}

// slowestOf returns the comparison, and a view of only the slow executions.
func slowestOf(v *View) (*slowest, *View) {
	type what struct {
		metric int
		at     key
	}
	metrics, sites := map[what]*siteContrast{}, map[what]*siteContrast{}
	var slow []samples.Stack
	for i := range v.Stacks {
		s := &v.Stacks[i]
		for m, n := range s.Values {
			if n == 0 || v.Metrics[m].Unit != samples.Nanoseconds {
				continue
			}
			at := waitSite(s.Frames)
			if v.Metrics[m].Sampled {
				at = hotSite(s.Frames)
			}
			for _, to := range []struct {
				in map[what]*siteContrast
				of what
			}{{metrics, what{m, key{}}}, {sites, what{m, at}}} {
				c := to.in[to.of]
				if c == nil {
					c = &siteContrast{contrast{Metric: v.Metrics[m].Name, metric: m}, to.of.at.Name, to.of.at.File, to.of.at.Line}
					to.in[to.of] = c
				}
				if s.Labels.Slow {
					c.Slow += float64(n) / float64(v.Executions.Slow)
				} else {
					c.Others += float64(n) / float64(max(v.Executions.Rest, 1))
				}
			}
		}
		if s.Labels.Slow {
			slow = append(slow, *s)
		}
	}
	list := func(m map[what]*siteContrast) []siteContrast {
		all := []siteContrast{}
		for _, c := range m {
			c.More = c.Slow - c.Others
			all = append(all, *c)
		}
		slices.SortFunc(all, func(a, b siteContrast) int {
			return cmp.Or(cmp.Compare(b.More, a.More), cmp.Compare(a.metric, b.metric), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Line, b.Line))
		})
		return all
	}
	x := &slowest{v, report.RowsOf(list(metrics), func(p siteContrast) contrast { return p.contrast }), list(sites)}
	only, p := *v, *v.Profile
	p.Stacks, only.Profile, only.all = slow, &p, nil
	return x, &only
}

// hotSite returns the leaf without its line: a function has enough samples to compare, a line
// hardly any.
func hotSite(frames []*symbols.Frame) key {
	return key{Name: frames[0].Func, File: frames[0].File}
}

// waitSite returns the innermost frame that is not Go's own: the place of the wait, not its
// mechanism.
func waitSite(frames []*symbols.Frame) key {
	for _, f := range frames {
		if samples.Own(f.Func) {
			return key{Name: f.Func, File: f.File, Line: f.Line}
		}
	}
	return key{Name: frames[0].Func, File: frames[0].File, Line: frames[0].Line}
}

func (x *slowest) text(b *report.Text) {
	e := &x.Executions
	fmt.Fprintf(b, "%s of at least %s, compared with %s that were faster; times are for one execution\n\n",
		show.Plural(e.Slow, "slow execution"), show.Duration(e.Limit), show.Plural(e.Rest, "execution"))
	if e.Rest == 0 {
		b.WriteString("there is nothing to compare with: all executions are slow\n")
		return
	}
	if s := x.sentence(); s != "" {
		b.WriteString(b.Bold(s) + "\n\n")
	}
	contrasts.Write(b, x.metrics)
	b.WriteByte('\n')
	siteContrasts.Write(b, x.sites)
}

// sentence names the metric that makes most of the difference, and the place of most of it.
func (x *slowest) sentence() string {
	all := 0.0
	for _, c := range x.metrics {
		if c.Metric != "syscall" { // its time may be CPU time too, which is counted already
			all += c.More
		}
	}
	if len(x.metrics) == 0 || all <= 0 || x.metrics[0].More <= 0 {
		return ""
	}
	c := x.metrics[0]
	text := fmt.Sprintf("a slow execution takes %s longer, %s of it: %s", show.Duration(int64(all)),
		show.Percent(min(c.More/all, 1)), x.View.Metrics[c.metric].Title)
	if i := slices.IndexFunc(x.sites, func(p siteContrast) bool { return p.metric == c.metric }); i >= 0 {
		at := x.sites[i]
		text += fmt.Sprintf(", most in %s, %s", show.Name(at.Function), show.Place(at.File, at.Line))
	}
	return text
}

func (c contrast) signed() string {
	if c.More < 0 {
		return show.Duration(int64(c.More))
	}
	return "+" + show.Duration(int64(c.More))
}

func (x *slowest) document() *slowestDocument {
	return &slowestDocument{x.Executions.Slow, x.Executions.Rest, x.Executions.Limit, x.metrics, x.sites}
}
