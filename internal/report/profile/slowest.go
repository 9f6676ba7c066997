package profile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// slowest is what the slow executions of a scope did, compared with the others.
type slowest struct {
	*View
	metrics []contrast
	places  []contrast
}

// contrast is what one slow execution had of something, and what another one had.
type contrast struct {
	metric       int
	at           key     // the place, for places
	slow, others float64 // for one execution
}

func (c *contrast) more() float64 { return c.slow - c.others }

// slowestOf compares, and returns a view of what the slow executions did too.
func slowestOf(v *View) (*slowest, *View) {
	x := &slowest{View: v}
	type what struct {
		metric int
		at     key
	}
	metrics, places := map[what]*contrast{}, map[what]*contrast{}
	var slow []samples.Stack
	for i := range v.Stacks {
		s := &v.Stacks[i]
		for m, n := range s.Values {
			if n == 0 || v.Metrics[m].Unit != samples.Nanoseconds {
				continue
			}
			var at key
			if v.Metrics[m].Sampled {
				at = hotPlace(s.Frames)
			} else {
				at = waitPlace(s.Frames)
			}
			for _, to := range []struct {
				in map[what]*contrast
				of what
			}{{metrics, what{m, key{}}}, {places, what{m, at}}} {
				c := to.in[to.of]
				if c == nil {
					c = &contrast{metric: m, at: to.of.at}
					to.in[to.of] = c
				}
				if s.Labels.Slow {
					c.slow += float64(n) / float64(v.Executions.Slow)
				} else {
					c.others += float64(n) / float64(max(v.Executions.Rest, 1))
				}
			}
		}
		if s.Labels.Slow {
			slow = append(slow, *s)
		}
	}
	list := func(m map[what]*contrast) (all []contrast) {
		for _, c := range m {
			all = append(all, *c)
		}
		slices.SortFunc(all, func(a, b contrast) int {
			return cmp.Or(cmp.Compare(b.more(), a.more()), cmp.Compare(a.metric, b.metric), cmp.Compare(a.at.name, b.at.name), cmp.Compare(a.at.line, b.at.line))
		})
		return all
	}
	x.metrics, x.places = list(metrics), list(places)
	only, p := *v, *v.Profile
	p.Stacks, only.Profile, only.all = slow, &p, nil
	return x, &only
}

// hotPlace returns the leaf without its line: a function has some samples, a line hardly any.
func hotPlace(frames []*samples.Frame) key {
	return key{name: frames[0].Func, file: frames[0].File}
}

// waitPlace returns the innermost frame that is not Go's own: where one waits, and not how.
func waitPlace(frames []*samples.Frame) key {
	for _, f := range frames {
		if samples.Own(f.Func) {
			return key{name: f.Func, file: f.File, line: f.Line}
		}
	}
	return key{name: frames[0].Func, file: frames[0].File, line: frames[0].Line}
}

func (x *slowest) text(b *report.Text) {
	e := &x.Executions
	fmt.Fprintf(b, "%s of at least %s, compared with %s that were faster; times are for one execution\n\n",
		show.Plural(e.Slow, "slow execution"), show.Duration(e.Limit), show.Plural(e.Rest, "execution"))
	if e.Rest == 0 {
		b.WriteString("there is nothing to compare with: all executions are slow ones\n")
		return
	}
	if s := x.sentence(); s != "" {
		b.WriteString(b.Bold(s) + "\n\n")
	}
	heads := []string{"slow", "others", "difference"}
	row := func(c contrast) []string {
		return []string{show.Duration(int64(c.slow)), show.Duration(int64(c.others)), signed(c.more()), x.Metrics[c.metric].Name}
	}
	report.Grid(b, "metric", append(heads, "<what"), x.metrics, row)
	b.WriteByte('\n')
	report.Grid(b, "place", append(heads, "<what", "<where"), x.places, func(c contrast) []string {
		return append(row(c), show.Name(c.at.name+", "+place(c.at.file, c.at.line)))
	})
}

// sentence says what makes most of the difference, and where most of that was.
func (x *slowest) sentence() string {
	all := 0.0
	for i := range x.metrics {
		if x.metrics[i].metric != x.Metric("syscall") { // it may have had a CPU, and be counted already
			all += x.metrics[i].more()
		}
	}
	if len(x.metrics) == 0 || all <= 0 || x.metrics[0].more() <= 0 {
		return ""
	}
	c := &x.metrics[0]
	text := fmt.Sprintf("a slow execution takes %s longer, %s of it: %s", show.Duration(int64(all)),
		show.Percent(min(c.more()/all, 1)), x.Metrics[c.metric].Title)
	if i := slices.IndexFunc(x.places, func(p contrast) bool { return p.metric == c.metric }); i >= 0 {
		at := x.places[i].at
		text += fmt.Sprintf(", most in %s, %s", show.Name(at.name), place(at.file, at.line))
	}
	return text
}

func signed(ns float64) string {
	if ns < 0 {
		return "-" + show.Duration(int64(-ns))
	}
	return "+" + show.Duration(int64(ns))
}

// slowestJSON is slowest in a document; times are for one execution.
type slowestJSON struct {
	Slow    int64          `json:"slow" unit:"executions" says:"the slow ones"`
	Others  int64          `json:"others" unit:"executions"`
	Limit   int64          `json:"limit_ns" unit:"ns" says:"the slow ones are as long or longer"`
	Metrics []contrastJSON `json:"metrics"`
	Places  []placeJSON    `json:"places"`
}

type contrastJSON struct {
	Metric string  `json:"metric"`
	Slow   float64 `json:"slow_ns" unit:"ns" says:"of one slow execution"`
	Others float64 `json:"others_ns" unit:"ns" says:"of one other execution"`
}

type placeJSON struct {
	contrastJSON
	Function string `json:"function" says:"the program's innermost function there"`
	File     string `json:"file"`
	Line     int    `json:"line" unit:"line"`
}

func (x *slowest) document() *slowestJSON {
	d := &slowestJSON{x.Executions.Slow, x.Executions.Rest, x.Executions.Limit, []contrastJSON{}, []placeJSON{}}
	of := func(c contrast) contrastJSON { return contrastJSON{x.View.Metrics[c.metric].Name, c.slow, c.others} }
	for _, c := range x.metrics {
		d.Metrics = append(d.Metrics, of(c))
	}
	for _, c := range x.places {
		d.Places = append(d.Places, placeJSON{of(c), c.at.name, c.at.file, c.at.line})
	}
	return d
}
