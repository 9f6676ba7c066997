package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newStacks(s *streams) *cobra.Command {
	var (
		x                     = excerpt{s: s}
		r                     stacksReport
		folded, pprof, asJSON bool
		format                string
	)
	cmd := &cobra.Command{
		Use:   "stacks TRACE",
		Short: "Tell from where scope.Stack was called, and how often",
		Long: `stacks tells what scope.Stack counted: by name, how often it was called, the sum of the weights that it
was given, and from where. share is of the calls of the name.

Calls are summed up by their innermost callers, as many as --depth says; each is shown as its function, file
and line. --skip 1 leaves out the innermost, where that is always the same: the cache that counts its hits, say. (other stacks) are calls from more stacks than the recorder tells apart. A program that was killed
lacks what it counted after its last heartbeat.

--format folded writes a line a stack, the outermost caller first, the name last, then the calls (or, with
--value weight, the weight), as flame graphs are made of. --format pprof writes a profile for go tool pprof, with the
sample types calls and weight; the name is a label: -tagfocus name=NAME.`,
		Example: `  scopeview stacks traces/
  scopeview stacks x.scope --name 'cache.*' --skip 1 --depth 1
  scopeview stacks x.scope --format pprof -o x.pb.gz && go tool pprof -top x.pb.gz
  scopeview stacks x.scope --format folded --value weight | flamegraph.pl > x.svg
  scopeview stacks x.scope --json | jq '.stacks[] | {name, calls, from: .frames[0].function}'`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			folded, pprof = folded || format == "folded", pprof || format == "pprof"
			switch {
			case format != "text" && format != "folded" && format != "pprof":
				return usagef("--format %q: there is text, folded, pprof", format)
			case folded && pprof || folded && asJSON || pprof && asJSON:
				return usagef("--format folded, --format pprof and --json are different documents; give one of them")
			case r.value != "calls" && r.value != "weight":
				return usagef("--value %q: there is calls, weight", r.value)
			case r.depth < 0 || r.limit < 0 || r.skip < 0:
				return usagef("--depth %d, -n %d, --skip %d: none can be negative", r.depth, r.limit, r.skip)
			}
			if pprof && x.out.standard() && s.outTerm {
				return usagef("--format pprof writes a binary file; give it a name with -o FILE")
			}
			if err := x.open(cmd, args[0]); err != nil {
				return err
			}
			defer x.t.Close()
			r.t, r.names = x.t, x.sel.Names
			r.read()
			if r.cut > 0 {
				fmt.Fprintf(s.err, "scopeview: %s are told of without their callers: together they have more than a recorder tells of\n", plural(r.cut, "stack"))
			}
			err := x.out.write(s, func(w io.Writer) error {
				switch {
				case folded:
					return r.folded(x.out.exact(s, w))
				case pprof:
					return r.pprof(w)
				case asJSON:
					return writeJSON(x.out.exact(s, w), cmd.Name(), r.json())
				}
				return r.text(w, x.out.styles(s))
			})
			if err != nil {
				return err
			}
			if folded || pprof {
				warnLosses(s, x.path, x.t)
			}
			return x.verdict()
		},
	}
	x.out.flag(cmd)
	x.strict.flag(cmd)
	f := cmd.Flags()
	f.StringVar(&x.sel.nameText, "name", "", "only names that match `GLOBS`: \"cache.*,-cache.put\" (* any run, ? one character, - excludes, the last match wins)")
	f.StringVar(&format, "format", "text", "write `FORMAT`: text, folded (for flame graphs), pprof (for go tool pprof)")
	f.BoolVar(&folded, "folded", false, "as --format folded")
	f.BoolVar(&pprof, "pprof", false, "as --format pprof")
	_, _ = f.MarkHidden("folded"), f.MarkHidden("pprof") // the spelling before --format
	complete(cmd, "format", []string{"text", "folded", "pprof"})
	jsonFlag(cmd, &asJSON)
	f.StringVar(&r.value, "value", "calls", "what --format folded counts: `WHAT` is calls or weight")
	f.IntVar(&r.depth, "depth", 3, "sum up by the innermost `N` callers; 0: by all")
	f.IntVar(&r.skip, "skip", 0, "leave out the innermost `N` callers, in every form")
	f.IntVarP(&r.limit, "lines", "n", 40, "show the first `N` rows; 0: all")
	complete(cmd, "value", []string{"calls", "weight"})
	return cmd
}

// text writes the tables for people.
func (r *stacksReport) text(w io.Writer, s styles) error {
	if err := health(w, r.t, s); err != nil {
		return err
	}
	if len(r.stacks) == 0 {
		_, err := io.WriteString(w, "no stacks: nothing called scope.Stack, or --name matches none\n")
		return err
	}
	sums := newTable("<name", "calls", "weight", "stacks")
	for _, n := range r.sums {
		sums.add(shorten(show(r.t.Name(n.name)), nameWidth), thousands(n.calls), thousands(n.weight), thousands(n.stacks))
	}
	if err := sums.write(w, s); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	t := newTable("<name", "calls", "share", "weight", "<called from")
	groups := r.groups()
	shown := len(groups)
	if r.limit > 0 {
		shown = min(shown, r.limit)
	}
	for _, g := range groups[:shown] {
		t.add(shorten(show(r.t.Name(g.name)), nameWidth), thousands(g.calls), percent(r.share(g.name, g.calls)), thousands(g.weight), r.calledFrom(g.stack))
	}
	if err := t.write(w, s); err != nil {
		return err
	}
	_, err := io.WriteString(w, more(len(groups), shown, "caller"))
	return err
}
