package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

func newInfo(s *streams) *cobra.Command {
	var (
		out    output
		strict strictness
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "info TRACE",
		Short: "Tell what was recorded, where, how, and whether all of it was kept",
		Long: `info tells, losses first, what a trace holds: the program, its build and machine, when and for how
long, how the recorder worked and why not better where it could not, the records by kind, how well CPU
times are known, what the recording itself cost, and what looks wrong.`,
		Example: `  scopeview info traces/
  scopeview info x.scope --json | jq .lost.total
  scopeview info x.scope --strict || echo "records were lost, or worse"`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, path, err := openTrace(args[0])
			if err != nil {
				return err
			}
			defer t.Close()
			if err := out.notOver(path); err != nil {
				return err
			}
			r := &report{t: t, path: path, state: stateOf(t, path), cost: analysis.RecordingCost(t.Beats())}
			p := newProgress(s, t, true)
			n := 0
			failed := t.Events(trace.Options{}, func(e *trace.Event) bool {
				r.census.Add(e)
				if n++; n&(1<<14-1) == 0 {
					p.at(e.Start)
				}
				return cmd.Context().Err() == nil
			})
			p.done()
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			err = out.write(s, func(w io.Writer) error {
				if asJSON {
					return writeJSON(out.exact(s, w), r.json())
				}
				return r.text(w, out.styles(s))
			})
			if err != nil {
				return err
			}
			if failed != nil {
				return failed
			}
			return strict.verdict(s, path, t, nil)
		},
	}
	out.flag(cmd)
	strict.flag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document; keys may be added, none changes")
	return cmd
}

// report is what info tells.
type report struct {
	t      *trace.Trace
	path   string
	state  state
	census analysis.Census
	cost   analysis.Cost
}

// state is what is known about the writing of a trace.
type state string

const (
	stateClosed    state = "closed"    // Stop ran to its end
	stateWriting   state = "writing"   // the program lives and writes
	stateAbandoned state = "abandoned" // nobody writes it any more, and Stop was not called
	stateUnknown   state = "unknown"   // not closed, and this system can't tell who writes it
)

func stateOf(t *trace.Trace, path string) state {
	if t.Closed() {
		return stateClosed
	}
	f, err := os.Open(path)
	if err != nil {
		return stateUnknown
	}
	defer f.Close()
	switch alive, known := trace.WriterAlive(f); {
	case !known:
		return stateUnknown
	case alive:
		return stateWriting
	}
	return stateAbandoned
}
