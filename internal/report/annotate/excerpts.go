package annotate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/samples"
)

// Excerpt is the source of a function.
type Excerpt struct {
	File  string // as frames name it
	From  int    // the number of its first line
	Lines []string
	Code  []int // the lines that have instructions; nil: not known
}

// Limits for all excerpts together.
const (
	mostExcerpts     = 60
	mostExcerptLines = 6_000
	longestExcerpt   = 1_000 // lines; longer functions are left out
)

// Excerpts returns the sources of the functions with the highest costs, as far as they are found.
func (c *Code) Excerpts(p *samples.Profile) (list []Excerpt) {
	all := map[string][]extent{}
	lines := map[string][]string{}
	left := mostExcerptLines
	taken := map[string]map[int]bool{}
	for _, at := range hottest(p) {
		if taken[at.File][at.Line] || len(list) == mostExcerpts {
			continue
		}
		text, ok := lines[at.File]
		if !ok {
			text, _, _ = c.Sources.Read(at.File)
			lines[at.File], all[at.File], taken[at.File] = text, extents(text), map[int]bool{}
		}
		x, ok := around(all[at.File], at.Line)
		if n := x.to - x.from + 1; !ok || n > longestExcerpt || n > left {
			continue
		}
		e := Excerpt{File: at.File, From: x.from}
		for n := x.from; n <= x.to; n++ {
			line := text[n-1]
			if len(line) > widest {
				line = strings.ToValidUTF8(line[:widest], "") + "…"
			}
			e.Lines = append(e.Lines, line)
			taken[at.File][n] = true
		}
		left -= len(e.Lines)
		list = append(list, e)
	}
	c.markCode(list)
	return list
}

// markCode marks the lines that have code.
func (c *Code) markCode(list []Excerpt) {
	if c.Binary == nil {
		return
	}
	var files []string
	for i := range list {
		files = append(files, list[i].File)
	}
	coded := c.Binary.Coded(files)
	for i := range list {
		e := &list[i]
		e.Code = []int{}
		for n := range e.Lines {
			if coded[e.File][e.From+n] {
				e.Code = append(e.Code, e.From+n)
			}
		}
	}
}

// sourceLine is a line of a function that has a cost.
type sourceLine struct {
	File string
	Line int
}

// hottest returns the lines with the highest costs: CPU time or another preset metric, and waits at
// the program's own lines.
func hottest(p *samples.Profile) (list []sourceLine) {
	sum := map[sourceLine]int64{}
	preset := p.Metric(p.Preset)
	units := samples.Nanoseconds
	if preset >= 0 {
		units = p.Metrics[preset].Unit
	}
	for i := range p.Stacks {
		s := &p.Stacks[i]
		v := int64(0)
		for m, n := range s.Values {
			if p.Metrics[m].Of == nil && p.Metrics[m].Unit == units {
				v += n
			}
		}
		seen := 0
		for k, f := range s.Frames {
			if own := samples.Own(f.Func); k == 0 || own {
				if strings.HasSuffix(f.File, ".go") && f.Line > 0 { // a trace may name any file of this machine
					sum[sourceLine{f.File, f.Line}] += v
				}
				if own {
					seen++
				}
			}
			if seen == 3 { // its callers are close by
				break
			}
		}
	}
	for at := range sum {
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b sourceLine) int {
		return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list
}
