package main

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// selection selects events and samples: --from, --to, --name, --track, --where, --process, --object.
type selection struct {
	fromText, toText, nameText, trackText, whereText, processText, objectText string

	analysis.Selection
}

// parse parses the globs, which needs no trace.
func (s *selection) parse() (err error) {
	if s.Names, err = glob.Parse(s.nameText); err != nil {
		return usagef("--name: %w", err)
	}
	if s.Tracks, err = glob.Parse(s.trackText); err != nil {
		return usagef("--track: %w", err)
	}
	if s.whereText != "" {
		if s.Where, err = analysis.ParseWhere(s.whereText); err != nil {
			return usagef("--where: %w", err)
		}
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
	if s.toText != "" {
		if s.To, err = moment("--to", s.toText, t); err != nil {
			return err
		}
		if s.To <= 0 {
			return usagef("--to %s is not after the trace's start, %s", s.toText, t.Start().Format(time.RFC3339Nano))
		}
		if s.To < s.From {
			return usagef("--to %s is before --from %s", s.toText, s.fromText)
		}
	}
	if err := s.Confine(t); err != nil {
		return usagef("%w", err)
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
	return 0, usagef("%s: invalid time %q; write for example 1.5s (from the start), -2s (before the end) or %s", flag, text, t.Start().Format(time.RFC3339))
}
