package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/report/states"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

const statesHelp = `states sums up what goroutines did, by the name of the scopes that they were in, by row, by the place where
they were made, or one by one. It needs a Go execution trace in the trace: scope.Start(path, gotrace.With()).

Of scopes the times are those of their goroutine from begin to end, the scopes inside them included; --self
leaves those out. By track, site and goroutine the times are the goroutines' lives. A Go execution trace
without regions and tasks is summed up by track if nothing is said. The runtime's own
goroutines, and the recorder's, are in no group.

  cpu        it ran, and its thread was on a CPU        lock       it waited for a mutex
  running    it ran; whether on a CPU is not known      join       it waited in sync.WaitGroup
  preempted  it would have run, but the system had      cond       it waited in sync.Cond
             put its thread off the CPU                 channel    it waited to send or to receive
  textfault  it would have run, but its thread waited   select     it waited in select
             for a page of instructions                 network    it waited for the network
  datafault  the same, for a page of memory             sleep      it slept for a time that it chose
  stalled    the same, for something else in the        gc         it helped the garbage collector, waited
             kernel, or for the runtime's locks                    for it, or the world was stopped
  runnable   it waited for one of Go's processors       other      it waited for something else
  syscall    it was in a system call                    unknown    the trace does not tell
  blocked    it was in a system call, which waited

The first lines say what was recorded, and how far what can be known in two ways agrees.`

func newStates(s *streams) *cobra.Command {
	var (
		x    = excerpt{s: s}
		by   string
		self bool
	)
	cmd := &cobra.Command{
		Use:   "states TRACE",
		Short: "Tell what goroutines did: ran, were put off the CPU, or waited for what",
		Long:  statesHelp,
		Example: `  scopeview states x.scope
  scopeview states x.scope --by site --from -5s
  scopeview states x.scope --name 'store.*' --self
  scopeview states x.scope --json | jq '.groups[] | {name, lock: .states_ns.lock}'`,
		PreRunE: func(*cobra.Command, []string) error {
			if analysis.By(by) != analysis.ByName && (self || x.sel.nameText != "") {
				return usagef("--self and --name are about scopes, and go with --by name")
			}
			return nil
		},
		RunE: x.run(func(cmd *cobra.Command) error {
			if x.t.Lookup(gotrace.FactScopes) == "none" && !cmd.Flags().Changed("by") {
				by = string(analysis.ByTrack) // by name there would be no rows
			}
			r, err := states.Of(cmd.Context(), x.t, x.part(), analysis.By(by), self)
			if errors.Is(err, gotrace.ErrNone) {
				err = noGoTrace(x.t, x.path)
			}
			return x.show(cmd, r, err)
		}),
	}
	x.flags(cmd)
	jsonFlag(cmd, &x.asJSON)
	cmd.Flags().BoolVar(&self, "self", false, "show the times in scopes without those in the scopes inside them")
	x.linesFlag(cmd)
	x.choiceFlag(cmd, &by, "by", "name", "sum up by `WHAT`", analysis.Bys...)
	return cmd
}

// noGoTrace returns the error that a trace has no Go execution trace, with the reason if the trace
// has it.
func noGoTrace(t *trace.Trace, path string) error {
	text := "record it with scope.Start(path, gotrace.With()), or add one with scopeview join"
	if why, off := strings.CutPrefix(t.Lookup("gotrace"), "off: "); off && why != "" {
		text = show.Text(why)
	} else if t.Lookup("gotrace") == "on (flight recorder)" {
		text = "of a ring Go keeps it in the program's memory, until the program ends or scopeview snapshot asks for it"
	}
	return fmt.Errorf("%s has no Go execution trace, so what its goroutines did is not known: %s", show.Name(path), text)
}
