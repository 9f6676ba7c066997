package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// selection selects events and samples: --from, --to, --name, --track, --process, --object.
type selection struct {
	fromText, toText, nameText, trackText, processText, objectText string

	analysis.Selection
}

func (s *selection) flags(cmd *cobra.Command) {
	s.times(cmd)
	s.globs(cmd)
	s.processes(cmd)
}

func (s *selection) times(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.fromText, "from", "", "leave out what ended before `TIME`: 1.5s from the trace's start, -2s from its end, or 2026-03-14T15:09:26Z")
	f.StringVar(&s.toText, "to", "", "leave out what began after `TIME`")
}

func (s *selection) globs(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.nameText, "name", "", "only names that match `GLOBS`: \"store.*,-store.mu\" (* any run, ? one character, - excludes, the last match wins)")
	s.tracks(cmd)
}

func (s *selection) tracks(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.trackText, "track", "", "only rows (scope.Track, scope.Go) whose name matches `GLOBS`")
}

// processes adds --process, for views of several processes.
func (s *selection) processes(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.processText, "process", "", "only the processes with these numbers, or that run programs whose names match GLOBS: `LIST`")
}

// objects adds --object, for views of samples.
func (s *selection) objects(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.objectText, "object", "", "only samples of code of the files (programs, libraries, [kernel]) whose names match `GLOBS`")
}

// parse parses the globs, which needs no trace.
func (s *selection) parse() (err error) {
	if s.Names, err = glob.Parse(s.nameText); err != nil {
		return usagef("--name: %w", err)
	}
	if s.Tracks, err = glob.Parse(s.trackText); err != nil {
		return usagef("--track: %w", err)
	}
	if s.processText != "" {
		if s.Processes, err = trace.ParseProcesses(s.processText); err != nil {
			return usagef("--process: %w", err)
		}
	}
	if s.objectText != "" {
		f, err := glob.Parse(s.objectText)
		if err != nil {
			return usagef("--object: %w", err)
		}
		s.Objects = &f
	}
	return nil
}

// keep removes the data of other processes from t.
func (s *selection) keep(t *trace.Trace, path string) error {
	if err := t.KeepProcesses(s.Processes); err != nil {
		return fmt.Errorf("%s: --process %s: %w", show.Name(path), s.processText, err)
	}
	return nil
}

// resolve parses the times, which are relative to t.
func (s *selection) resolve(t *trace.Trace) (err error) {
	if s.fromText != "" {
		if s.From, err = moment("--from", s.fromText, t); err != nil {
			return err
		}
	}
	if s.toText == "" {
		return nil
	}
	if s.To, err = moment("--to", s.toText, t); err != nil {
		return err
	}
	if s.To <= 0 {
		return usagef("--to %s is not after the trace's start, %s", s.toText, t.Start().Format(time.RFC3339Nano))
	}
	if s.To < s.From {
		return usagef("--to %s is before --from %s", s.toText, s.fromText)
	}
	return nil
}

// moment returns a time in ns from t's start.
func moment(flag, text string, t *trace.Trace) (int64, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if text[0] == '-' {
			return t.End() + int64(d), nil
		}
		return int64(d), nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return int64(at.Sub(t.Start())), nil
	}
	return 0, usagef("%s %q is no time; write for example 1.5s (from the start), -2s (before the end) or %s", flag, text, t.Start().Format(time.RFC3339))
}
