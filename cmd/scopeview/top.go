package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

// topOrders are the columns that top sorts by, the largest first.
var topOrders = map[string]func(*analysis.Stats) int64{
	"total": func(s *analysis.Stats) int64 { return s.Total },
	"self":  func(s *analysis.Stats) int64 { return s.Self },
	"count": func(s *analysis.Stats) int64 { return s.Count },
	"mean":  (*analysis.Stats).Mean,
	"max":   func(s *analysis.Stats) int64 { return s.Times.Max() },
	"p99":   func(s *analysis.Stats) int64 { return s.Times.Quantile(0.99) },
	"cpu":   func(s *analysis.Stats) int64 { return s.CPU },
	"name":  nil,
}

func newTop(s *streams) *cobra.Command {
	var (
		x      = excerpt{s: s}
		top    = topReport{limit: 40}
		asJSON bool
		by     string
	)
	cmd := &cobra.Command{
		Use:   "top TRACE",
		Short: "Tell where the time went, by name or by row, and who waited for which lock",
		Long: `top sums up the scopes by name (or, --by track, by the name of their row), the locks, the events and
the counters.

Scopes that have not ended are counted under "open" only. self is the time in a scope and in no scope
inside it, a part of total; waiting for a lock inside is not self. Quantiles are exact up to 64 scopes, else within 0.8 %.
cpu is the CPU time that is known, known the share of the total of which it is, cpu/wall their ratio there;
cpu max is an upper bound for others. With --from and --to, scopes that touch the range count whole, and
self and "held by" are what lies inside it.

By track, scopes inside others on their row are not counted again: all but self is of the outermost ones.

held by tells what had the time while a lock was held: each moment counts for the innermost scope on the
holder's row, around the lock or inside it.`,
		Example: `  scopeview top traces/
  scopeview top x.scope --sort self -n 10
  scopeview top x.scope --by track --from -5s
  scopeview top x.scope --json | jq '.locks[] | {name, wait_ns}'`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := topOrders[top.order]; !ok {
				return usagef("--sort %q: there is %s", top.order, strings.Join(slices.Sorted(maps.Keys(topOrders)), ", "))
			}
			if by != "name" && by != "track" {
				return usagef("--by %q: there is name, track", by)
			}
			if top.limit < 0 {
				return usagef("-n %d: it takes a number of rows, or 0 for all", top.limit)
			}
			if err := x.open(cmd.Context(), args[0]); err != nil {
				return err
			}
			defer x.t.Close()
			if asJSON && !cmd.Flags().Changed("lines") {
				top.limit = 0
			}
			top.t, top.byTrack = x.t, by == "track"
			if err := top.read(cmd, s, &x.sel); err != nil {
				return err
			}
			return present(&x, cmd.Name(), &top, asJSON)
		},
	}
	x.flags(cmd)
	f := cmd.Flags()
	jsonFlag(cmd, &asJSON)
	f.StringVar(&top.order, "sort", "total", "sort by `COLUMN`: "+strings.Join(slices.Sorted(maps.Keys(topOrders)), ", "))
	f.StringVar(&by, "by", "name", "sum up by `WHAT`: name, track")
	f.IntVarP(&top.limit, "lines", "n", top.limit, "show the first `N` rows of each table; 0: all (as with --json, if not given)")
	complete(cmd, "sort", slices.Sorted(maps.Keys(topOrders)))
	complete(cmd, "by", []string{"name", "track"})
	return cmd
}

// complete makes the shell complete a flag's values.
func complete(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}

// topReport is what top shows.
type topReport struct {
	t       *trace.Trace
	order   string
	byTrack bool
	limit   int

	stats    []*analysis.Stats
	locks    []*analysis.Lock
	instants []*analysis.Instants
	counters []*analysis.Counter
	census   analysis.Census
}

// read reads the trace.
func (r *topReport) read(cmd *cobra.Command, s *streams, sel *selection) error {
	choice := sel.Choice(r.t)
	sum := analysis.NewSummary(analysis.SummaryOptions{
		ByTrack: r.byTrack, Keep: choice.Keep, Breaks: r.t.Breaks(), From: sel.From, To: sel.To,
	})
	p := newProgress(s, r.t, true)
	watch := analysis.Watch{Progress: p.at}
	err := r.t.Events(sel.Range(), func(e *trace.Event) bool {
		sum.Add(e)
		if choice.Keep(e) {
			r.census.Add(e)
		}
		return watch.Look(cmd.Context(), e.Start) == nil
	})
	p.done()
	if err == nil {
		err = cmd.Context().Err()
	}
	sum.Finish()
	r.stats, r.locks, r.instants, r.counters = sum.Stats(), sum.Locks(), sum.Instants(), sum.Counters()
	r.sort()
	return err
}

// sort orders the groups; equal ones come by their open time, then by name.
func (r *topReport) sort() {
	key := topOrders[r.order]
	slices.SortFunc(r.stats, func(a, b *analysis.Stats) int {
		if key != nil {
			if c := cmp.Or(cmp.Compare(key(b), key(a)), cmp.Compare(b.OpenTime, a.OpenTime)); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(r.t.Name(a.Name), r.t.Name(b.Name)), boolCompare(a.Process, b.Process))
	})
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// title is a group's name as people see it.
func (r *topReport) title(s *analysis.Stats) string {
	name := r.t.Name(s.Name)
	switch {
	case r.byTrack && name == "":
		return "(rows without a name)"
	case s.Process:
		return shorten(show(name), nameWidth) + " (process)"
	}
	return shorten(show(name), nameWidth)
}

// nameWidth bounds the column of names; --json has them whole.
const nameWidth = 48

// more says how many rows are left out.
func more(all, limit int, what string) string {
	if limit == 0 || all <= limit {
		return ""
	}
	return fmt.Sprintf("… and %s (-n 0 shows all)\n", plural(int64(all-limit), "more "+what))
}

func (r *topReport) shown(n int) int {
	if r.limit == 0 {
		return n
	}
	return min(n, r.limit)
}
