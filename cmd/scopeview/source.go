package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/symbols"
)

const marksHelp = `A line's mark is blank where no instruction is of it; "0." where some are, and none is in the data; "0.000" where
some are in the data, and what they have rounds to zero; otherwise what they have. Code that was inlined counts
for the line that it was written in. ## marks lines that have nearly as much as the hottest: --hot.`

const binaryHelp = `Which lines have code, and the instructions, are read from the executable that ran, which may be stripped: it is
looked for where it was, and --binary says where it is now. One of another build is refused. Sources are looked
for where the compiler had them, in Go's root and the modules' cache; --path-map OLD=NEW says where they are now.
What scopeview archive has stored with TRACE comes first, and is used on any machine.

--commentary has the compiler tell what it did: what it inlined and what not and why, what escapes to the heap,
which bounds are checked, with what the line costs. That builds the package, as go build does.`

// annotated is the common part of source and disasm.
type annotated struct {
	profiling
	binary, hot string
	maps        []string
	commentary  bool
}

func (x *annotated) flags(cmd *cobra.Command) {
	x.tableFlags(cmd)
	x.metricFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&x.binary, "binary", "", "the executable that ran is `FILE`")
	f.StringArrayVar(&x.maps, "path-map", nil, "look for sources whose names begin with OLD where they begin with NEW: `OLD=NEW`; may be repeated")
	f.BoolVar(&x.commentary, "commentary", false, "have the compiler tell what it did with the lines")
}

// code returns the program's code. If there are several executables, it is the one with the
// function what.
func (x *annotated) code(what string) (*annotate.Code, error) {
	c := &annotate.Code{Remarks: x.commentary}
	for _, text := range x.maps {
		m, err := symbols.ParseMap(text)
		if err != nil {
			return nil, usagef("--path-map: %w", err)
		}
		c.Sources.Map = append(c.Sources.Map, m)
	}
	if x.hot != "" {
		share, err := strconv.ParseFloat(strings.TrimSuffix(x.hot, "%"), 64)
		if err != nil || share <= 0 || share > 100 {
			return nil, usagef("--hot %s: write a share of the hottest line's value, such as 75%%", x.hot)
		}
		c.Hot = share / 100
	}
	if x.t != nil {
		c.UseStored(x.t)
	}
	c.UseBinary(x.p, x.binary, what)
	return c, nil
}

// show returns a command's function that shows a view of code.
func (x *annotated) show(of func(ctx context.Context, v *profile.View, c *annotate.Code, what string) (*profile.Report, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return x.run(func(args []string) (*profile.Report, error) {
			c, err := x.code(args[0])
			if err != nil {
				return nil, err
			}
			v, err := x.view()
			if err != nil {
				return nil, err
			}
			return of(cmd.Context(), v, c, args[0])
		})(cmd, args)
	}
}

func newSource(s *streams) *cobra.Command {
	x := &annotated{profiling: profiling{excerpt: excerpt{s: s}}}
	cmd := &cobra.Command{
		Use:   "source TRACE FUNC|FILE",
		Short: "Show a function's or a file's source with what each line cost",
		Long: `source shows the source of a function, or of a file, with what each line cost on CPUs and waiting.

` + marksHelp + "\n\n" + binaryHelp + "\n\n" + sourcesHelp,
		Example: `  scopeview source x.scope main.work
  scopeview source x.scope store.go -m e.cpu:i.lock --commentary
  scopeview source cpu.pprof '(*Store).Get' --binary ./server --path-map /build=/home/me/src`,
		Args:              traceAnd("a function or a file, such as main.work or store.go"),
		ValidArgsFunction: completeSource,
		RunE:              x.show(annotate.Source),
	}
	x.flags(cmd)
	cmd.Flags().StringVar(&x.hot, "hot", "75%", "mark lines that have this `SHARE` of what the hottest line has")
	return cmd
}

func newDisasm(s *streams) *cobra.Command {
	x := &annotated{profiling: profiling{excerpt: excerpt{s: s}}}
	cmd := &cobra.Command{
		Use:   "disasm TRACE FUNC",
		Short: "Show a function's instructions with what each cost, below their lines",
		Long: `disasm shows the instructions of a function, below the lines that they were made of: before an instruction of
line N stand all lines of the function up to N that were not there yet. Values stand at instructions only.
Instructions of functions that were inlined have the name of their file.

` + binaryHelp + "\n\n" + sourcesHelp,
		Example: `  scopeview disasm x.scope main.work
  scopeview disasm cpu.pprof '(*Store).Get' --binary ./server`,
		Args:              traceAnd("a function, such as main.work"),
		ValidArgsFunction: completeSource,
		RunE:              x.show(annotate.Disasm),
	}
	x.flags(cmd)
	return cmd
}

// traceAnd checks that a command got TRACE and one more argument.
func traceAnd(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return fmt.Errorf("%s needs a TRACE and %s; these are %d: %q", cmd.Name(), what, len(args), args)
		}
		return nil
	}
}
