package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Limits of the executions that find returns.
const (
	usualFound = 10
	mostFound  = 30
)

// execution is a matching execution.
type execution struct {
	name, row, args string
	start, dur, cpu int64
	quality         format.Quality
	open            bool
}

// find1 answers the tool find: it lists the longest executions.
func (s *Server) find1(ctx context.Context, in findArgs) (string, error) {
	count := in.Count
	if count == 0 {
		count = usualFound
	}
	if count < 0 {
		return "", errors.New("count is 1 to 30")
	}
	count = min(count, mostFound)
	var longer time.Duration
	if in.Longer != "" {
		var err error
		if longer, err = time.ParseDuration(in.Longer); err != nil {
			return "", fmt.Errorf("longer %q is not a time: write 10ms", in.Longer)
		}
	}
	o, sel, err := s.wanted(ctx, in.named)
	if err != nil {
		return "", err
	}
	defer o.close()
	list, all, err := longest(ctx, o.Trace, sel, int64(longer), count)
	if err != nil {
		return "", err
	}
	return o.brief(&report.Report{Brief: func(b *report.Brief) {
		b.More(report.Does(b.Command("top", "--brief"), "sums of all executions"), report.Does(b.Command("doctor", "--brief"), "what is wrong"))
		b.Line(fmt.Sprintf("# Found: %s", show.Plural(all, "execution")))
		if line := analysis.LossLine(o.Trace); line != "" {
			b.Line("\nLosses: " + report.Prose(line))
		}
		b.Heading("## The longest")
		places := o.FirstPlaces()
		var rows [][]string
		for _, x := range list {
			p, cpu := places[x.name], "unknown"
			switch x.quality {
			case format.Exact, format.Likely:
				cpu = show.Duration(x.cpu)
			case format.AtMost:
				cpu = "≤ " + show.Duration(x.cpu)
			}
			took := show.Duration(x.dur)
			if x.open {
				took += ", open"
			}
			rows = append(rows, []string{took, show.Duration(x.start), report.Cell(report.CodeName(x.name)), cpu, report.Cell(report.Code(x.row)), report.Cell(report.Code(x.args)), report.Cell(report.SourceLine(p.File, p.Line))})
		}
		b.Rows([]string{"took", "began at", "name", "cpu", "row", "arguments", "source"}, rows)
	}}, in.part), nil
}

// longest reads the selected executions, and returns the longest ones and the number of all.
func longest(ctx context.Context, t *trace.Trace, sel *analysis.Selection, longer int64, count int) (list []execution, all int64, err error) {
	choice, watch, lister := sel.Choice(t), sel.Watch(), args.NewLister(t.Name)
	breaks := analysis.Breaks(t.Breaks())
	o := sel.Range()
	o.Detail = trace.Tracks
	err = t.Events(o, func(e *trace.Event) bool {
		switch e.Kind {
		case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold:
			if e.Dur < longer || !choice.Keep(e) || breaks.Across(e) {
				break
			}
			all++
			if len(list) == count && e.Dur <= list[count-1].dur {
				break
			}
			x := execution{name: t.Name(e.Name), start: e.Start, dur: e.Dur, cpu: e.CPU, quality: e.Quality, open: e.Open, row: fmt.Sprint("goroutine ", e.Goid)}
			if e.Track != format.NameEmpty {
				x.row = show.Name(t.Name(e.Track))
			}
			if l := lister.List(e); len(l) > 0 {
				x.args = show.Name(string(args.AppendJSON(nil, l)))
			}
			i, _ := slices.BinarySearchFunc(list, x, func(a, b execution) int { return cmp.Or(cmp.Compare(b.dur, a.dur), cmp.Compare(a.start, b.start)) })
			if list = slices.Insert(list, i, x); len(list) > count {
				list = list[:count]
			}
		}
		return watch.Look(ctx, e.Start) == nil
	})
	return list, all, cmp.Or(err, ctx.Err())
}
