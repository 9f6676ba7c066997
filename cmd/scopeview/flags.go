package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scopeview/scopeview/internal/report"
)

// flagSet is a set of the flags that several commands have.
type flagSet int

const (
	flagTimes     flagSet = 1 << iota // --from, --to
	flagNames                         // --name
	flagTracks                        // --track
	flagWhere                         // --where
	flagProcesses                     // --process
	flagObjects                       // --object
	flagOutput                        // -o
	flagStrict                        // --strict
	flagJSON                          // --json
	flagBrief                         // --brief
	flagLines                         // -n
	flagStates                        // --states
	flagWith                          // --with
	flagOpen                          // --open
	flagMembench                      // --membench

	// flagPart are those of commands that show or write a part of a trace.
	flagPart = flagTimes | flagNames | flagTracks | flagProcesses | flagOutput | flagStrict
)

// define defines the flags of a set.
func (c *call) define(set flagSet) {
	f := c.flags()
	for _, x := range []struct {
		flag   flagSet
		define func()
	}{
		{flagTimes, func() {
			f.StringVar(&c.sel.fromText, "from", "", "leave out everything that ended before `TIME`: 1.5s after the trace's start, -2s before its end, or 2026-03-14T15:09:26Z")
			f.StringVar(&c.sel.toText, "to", "", "leave out everything that began after `TIME`")
		}},
		{flagNames, func() {
			f.StringVar(&c.sel.nameText, "name", "", "only names that match `GLOBS`: \"store.*,-store.mu\" (* any characters, ? one, - excludes, the last match wins)")
		}},
		{flagTracks, func() {
			f.StringVar(&c.sel.trackText, "track", "", "only rows (scope.Track, scope.Go) whose name matches `GLOBS`")
		}},
		{flagWhere, func() {
			f.StringVar(&c.sel.whereText, "where", "", "only what holds `CONDITIONS`, as in the page's search: \"parse dur>10ms status=500\"")
		}},
		{flagProcesses, func() {
			f.StringVar(&c.sel.processText, "process", "", "only the processes in `LIST`: their numbers, or globs of their programs' names")
		}},
		{flagObjects, func() {
			f.StringVar(&c.sel.objectText, "object", "", "only samples in code of files (programs, libraries, [kernel]) whose names match `GLOBS`")
		}},
		{flagOutput, func() {
			f.StringVarP(&c.out.path, "output", "o", "-", "write to `FILE`, which appears when it is complete; -: standard output")
		}},
		{flagStrict, func() {
			f.BoolVar((*bool)(&c.strict), "strict", false, "exit with code 3 if a part of the input was lost, or may have been, or was overwritten in a ring")
		}},
		{flagJSON, func() {
			f.BoolVar(&c.asJSON, "json", false, "print a JSON document, "+report.Schema(c.row.document())+"; docs/json.md lists its keys")
		}},
		{flagBrief, func() {
			f.BoolVar(&c.brief, "brief", false, "print a page of Markdown, at most 1,500 tokens: problems, their places in the source, and remedies")
		}},
		{flagLines, func() {
			f.IntVarP(&c.lines, "lines", "n", 40, "show the first `N` rows of each table; 0: all (as with --json, if not given)")
		}},
		{flagStates, func() {
			f.BoolVar(&c.states, "states", false, "also write the states of goroutines; needs a Go execution trace (gotrace.With())")
		}},
		{flagWith, func() {
			f.StringVar(&c.with, "with", "", "compare with this `TRACE`, in the page's tab Compare")
			c.completeWith("with", completeTrace)
		}},
		{flagOpen, func() {
			f.BoolVar(&c.openPage, "open", false, "open it in the browser")
		}},
		{flagMembench, func() {
			memory := f.String("membench", "", "read `FILE`, written on the trace's machine by scopeview membench --json or scale --membench --json, for the doctor")
			c.checks = append(c.checks, func() (err error) {
				if *memory != "" {
					c.bandwidth, err = readBandwidth(*memory)
				}
				return err
			})
		}},
	} {
		if set&x.flag != 0 {
			x.define()
		}
	}
}

// document returns the name of the command's JSON document.
func (row *command) document() string {
	if row.name == "profile" {
		return "profile.KIND"
	}
	return strings.ReplaceAll(row.name, " ", ".")
}

// flags returns the flags of the command.
func (c *call) flags() *pflag.FlagSet { return c.cmd.Flags() }

// changed reports whether a flag was given.
func (c *call) changed(flag string) bool { return c.flags().Changed(flag) }

// choice defines a flag with a fixed set of values.
func (c *call) choice(name, preset, help string, of ...string) *string {
	value := c.flags().String(name, preset, help+": "+strings.Join(of, ", "))
	c.checks = append(c.checks, func() error {
		if !slices.Contains(of, *value) {
			return usagef("--%s %q: want one of %s", name, *value, strings.Join(of, ", "))
		}
		return nil
	})
	c.completeValues(name, of)
	return value
}

// completeValues registers a flag's values for completion.
func (c *call) completeValues(flag string, values []string) {
	c.completeWith(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeWith registers a completion function if the shell is completing. Cobra keeps each, with
// its whole command, in a table of the process for ever: tests run tens of thousands of commands.
func (c *call) completeWith(flag string, f cobra.CompletionFunc) {
	if !c.s.completing {
		return
	}
	if err := c.cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // there is no such flag
	}
}

// rowLimit returns the maximum number of rows of a table; 0: all.
func (c *call) rowLimit() (int, error) {
	if c.lines < 0 {
		return 0, usagef("-n %d: want a number of rows, or 0 for all", c.lines)
	}
	if c.asJSON && !c.changed("lines") {
		return 0, nil
	}
	return c.lines, nil
}

// noTerminal makes the command refuse to write a file for other programs to a terminal.
func (c *call) noTerminal(what, instead string) {
	c.checks = append(c.checks, func() error { return c.refuseTerminal(what, instead) })
}

func (c *call) refuseTerminal(what, instead string) error {
	if c.out.standard() && c.s.outTerm {
		return usagef("%s is not for a terminal: give a file with %s", what, instead)
	}
	return nil
}
