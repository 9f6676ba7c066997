package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

// excerpt is what the commands have in common that make something else of a trace,
// or of a part of it.
type excerpt struct {
	s      *streams
	sel    selection
	out    output
	strict strictness

	// Once it is open:
	t    *trace.Trace
	path string
}

func (x *excerpt) flags(cmd *cobra.Command) {
	x.sel.flags(cmd)
	x.out.flag(cmd)
	x.strict.flag(cmd)
}

// noTerminal refuses to write to a terminal what is nothing to read there.
func (x *excerpt) noTerminal(what, instead string) error {
	if x.out.standard() && x.s.outTerm {
		return usagef("%s is nothing to read on a terminal: give a file with %s", what, instead)
	}
	return nil
}

// open opens the trace that TRACE means, and finds out what of it is wanted. The
// caller closes x.t.
func (x *excerpt) open(ctx context.Context, arg string) (err error) {
	if err := x.sel.parse(); err != nil {
		return err
	}
	if x.t, x.path, err = openTrace(ctx, arg); err != nil {
		return err
	}
	if err = x.out.notOver(x.path); err == nil {
		err = x.sel.resolve(x.t)
	}
	if err != nil {
		x.t.Close()
	}
	return err
}

// write lets f write the result, tells how far it is, and before it what was lost:
// the formats have no place for it where everybody looks.
func (x *excerpt) write(f func(w io.Writer) error) error {
	warnLosses(x.s, x.path, x.t)
	p := newProgress(x.s, x.t, !x.out.standard() || !x.s.outTerm)
	defer p.done()
	x.sel.Progress = p.at
	return x.out.write(x.s, func(w io.Writer) error { return f(x.out.exact(x.s, w)) })
}

// report is what a command has found out.
type report[J any] interface {
	json() J
	text(w io.Writer, st styles) error
}

// present writes it, and makes what is wrong with the trace the exit code.
func present[J any](x *excerpt, command string, r report[J], asJSON bool) error {
	err := x.out.write(x.s, func(w io.Writer) error {
		if asJSON {
			return writeJSON(x.out.exact(x.s, w), command, r.json())
		}
		return r.text(w, x.out.styles(x.s))
	})
	if err != nil {
		return err
	}
	return x.verdict()
}

func (x *excerpt) state() analysis.State { return stateOf(x.t, x.path) }

// verdict makes what is wrong with the trace the exit code.
func (x *excerpt) verdict() error {
	return x.strict.verdict(x.s, x.path, x.t, analysis.Damage(x.t.Problems()))
}
