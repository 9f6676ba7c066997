package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report/stacks"
	"github.com/scopeview/scopeview/internal/show"
)

const stacksHelp = `stacks tells what scope.Stack counted: by name, how often it was called, the sum of the weights that it
was given, and from where. share is of the calls of the name.

Calls are summed up by their innermost callers, as many as --depth says; each is shown as its function, file
and line. --skip 1 leaves out the innermost, where that is always the same: the cache that counts its hits, say. (other stacks) are calls from more stacks than the recorder tells apart. A program that was killed
lacks what it counted after its last heartbeat.

--format folded writes a line a stack, the outermost caller first, the name last, then the calls (or, with
--value weight, the weight), as flame graphs are made of. --format pprof writes a profile for go tool pprof, with the
sample types calls and weight; the name is a label: -tagfocus name=NAME.`

func newStacks(s *streams) *cobra.Command {
	var (
		x             = excerpt{s: s}
		depth, skip   int
		folded, pprof bool
		format, value string
	)
	cmd := &cobra.Command{
		Use:   "stacks TRACE",
		Short: "Tell from where scope.Stack was called, and how often",
		Long:  stacksHelp,
		Example: `  scopeview stacks traces/
  scopeview stacks x.scope --name 'cache.*' --skip 1 --depth 1
  scopeview stacks x.scope --format pprof -o x.pb.gz && go tool pprof -top x.pb.gz
  scopeview stacks x.scope --format folded --value weight | flamegraph.pl > x.svg
  scopeview stacks x.scope --json | jq '.stacks[] | {name, calls, from: .frames[0].function}'`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		PreRunE: func(*cobra.Command, []string) error {
			folded, pprof = folded || format == "folded", pprof || format == "pprof"
			switch {
			case folded && pprof || folded && x.asJSON || pprof && x.asJSON:
				return usagef("--format folded, --format pprof and --json are different documents; give one of them")
			case depth < 0 || x.lines < 0 || skip < 0:
				return usagef("--depth %d, -n %d, --skip %d: none can be negative", depth, x.lines, skip)
			case pprof && x.out.standard() && s.outTerm:
				return usagef("--format pprof writes a binary file; give it a name with -o FILE")
			}
			return nil
		},
		RunE: x.run(func(cmd *cobra.Command) error {
			if err := readGoTrace(x.t); err != nil {
				return err
			}
			r := stacks.Of(x.t, x.part(), depth, skip)
			if r.Unnamed > 0 {
				fmt.Fprintf(s.err, "scopeview: %s are told of without their callers: together they have more than a recorder tells of\n", show.Plural(r.Unnamed, "stack"))
			}
			switch {
			case folded:
				return x.foreign(func(w io.Writer) error { return r.Folded(x.out.exact(s, w), value == "weight") })
			case pprof:
				return x.foreign(r.Pprof)
			}
			return x.show(cmd, &r.Report, nil)
		}),
	}
	x.out.flag(cmd)
	x.strict.flag(cmd)
	f := cmd.Flags()
	f.StringVar(&x.sel.nameText, "name", "", "only names that match `GLOBS`: \"cache.*,-cache.put\" (* any run, ? one character, - excludes, the last match wins)")
	f.BoolVar(&folded, "folded", false, "as --format folded")
	f.BoolVar(&pprof, "pprof", false, "as --format pprof")
	_, _ = f.MarkHidden("folded"), f.MarkHidden("pprof") // the old flags, before --format
	f.IntVar(&depth, "depth", 3, "sum up by the innermost `N` callers; 0: by all")
	f.IntVar(&skip, "skip", 0, "leave out the innermost `N` callers, in every form")
	jsonFlag(cmd, &x.asJSON)
	x.linesFlag(cmd)
	x.choiceFlag(cmd, &format, "format", "text", "write `FORMAT`", "text", "folded", "pprof")
	x.choiceFlag(cmd, &value, "value", "calls", "count `WHAT` with --format folded", "calls", "weight")
	return cmd
}

// foreign writes a format of other tools, which has no place for losses, with f.
func (x *excerpt) foreign(f func(w io.Writer) error) error {
	if err := x.out.write(x.s, f); err != nil {
		return err
	}
	warnLosses(x.s, x.path, x.t)
	return x.verdict()
}
