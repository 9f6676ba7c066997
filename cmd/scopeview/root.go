package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/show"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitLosses = 3 // the trace has losses, with --strict
	exitFound  = 4 // a condition of --fail-on holds
)

// exit ends the command with a code. err is printed; nil: messages were printed already.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usagef returns an error about the command line.
func usagef(text string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(text, args...)}
}

const longHelp = `scopeview records programs that nobody has changed (run, build, test), and looks at their traces and at
those of programs that import github.com/scopeview/scopeview/scope.

TRACE is a file, a directory (its newest *.scope file), the number of a running process
(the trace that it writes), or the address where a program has mounted scopehttp.Handler
(http://localhost:6060/debug/scope/: a copy of what it has recorded). A trace can be looked
at while it is being written, and after its program was killed. A file can also be a Go execution
trace, of go test -trace or /debug/pprof/trace for instance, of Go 1.22 and later. TRACE can also
be -, a pipe or a file on a web server, and be compressed by zstd or gzip.

Exit codes: 0 ok, 1 failed, or the trace is damaged, 2 wrong usage, 3 the trace has losses (with --strict),
4 what was looked for with --fail-on was found.`

func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:     "scopeview COMMAND TRACE",
		Short:   "Look at traces of concurrent Go programs",
		Long:    longHelp,
		Version: version(),
		Example: `  scopeview run ./cmd/server         go run, and a timeline of it
  scopeview info traces/             what was recorded, and was all of it kept
  scopeview top traces/              where the time went, by name
  scopeview states traces/           what goroutines did: ran, or waited for what
  scopeview compare old/ new/        what became slower, or faster
  scopeview html x.scope -o x.html   the timeline as one file for the browser
  scopeview serve 4711 --open        the timeline of process 4711, growing
  scopeview tail 4711                what process 4711 does now
  scopeview csv x.scope -o x.csv     all of it, for a spreadsheet or a database
  scopeview snapshot 4711            what process 4711 has recorded, as a trace of its own
  scopeview join x.scope go.trace    what go test -trace has written, and x.scope, as one trace
  scopeview ctl 4711 off             process 4711 records nothing, until on
  scopeview vet ./...                mistakes in a program's calls, such as a missing ()`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetVersionTemplate("{{.Version}}\n")
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"look", "Look at a trace:", []*cobra.Command{newInfo(s), newTop(s), newStacks(s), newTail(s), newServe(s), newHTML(s), newMCP(s)}},
		{"why", "Find out why:", []*cobra.Command{newDoctor(s), newAdvise(s), newWaits(s), newStates(s), newCompare(s)}},
		{"where", "Find out where the time went, down to the line:", []*cobra.Command{
			newFunctions(s), newCallers(s), newTree(s), newLines(s), newSource(s), newDisasm(s), newObjects(s), newGoroutines(s), newThreads(s), newSamples(s), newHeader(s),
		}},
		{"compiler", "Give profiles to the compiler:", []*cobra.Command{newPgo(s), newAutofdo(s)}},
		{"export", "Export:", []*cobra.Command{newCSV(s), newChrome(s), newPerfetto(s), newPprof(s), newGoTrace(s), newExport(s), newSQL(s)}},
		{"control", "Record, and control a recording:", []*cobra.Command{newRun(s), newBuild(s), newTest(s), newCheckHooks(s), newRecord(s), newCtl(s), newSnapshot(s)}},
		{"mend", "Mend, check and give away:", []*cobra.Command{newMerge(s), newJoin(s), newArchive(s), newPack(s), newUnpack(s), newAnonymize(s), newVerify(s), newVet(s), newDump(s), newAssemble(s)}},
		{"measure", "Measure:", []*cobra.Command{newScale(s), newMembench(s), newCalibrate(s)}},
		{"itself", "The tool itself:", []*cobra.Command{newVersion(s)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
			for _, below := range c.Commands() {
				if f := below.Flags().Lookup("json"); f != nil {
					f.Usage = jsonUsage(below) // its document has both names
				}
			}
		}
	}
	root.AddCommand(newToolexec())
	return root
}

// execute runs the command in args and returns its exit code.
func execute(ctx context.Context, s *streams, args []string) int {
	s.completing = len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
	root := newRoot(s)
	root.SetArgs(args)
	got := downloads{patience: stalledAfter}
	defer got.remove()
	// Errors before a command runs are about the command line.
	running := false
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		running = true
		return got.replace(cmd, s, args)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{exitFailed, err}
		if !running {
			e.code = exitUsage
		}
	}
	if e.err == nil {
		return e.code
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		fmt.Fprintln(s.err, "scopeview: interrupted")
		return exitFailed
	}
	fmt.Fprintf(s.err, "scopeview: %s\n", show.Text(e.Error()))
	if e.code == exitUsage {
		fmt.Fprintf(s.err, "Run '%s --help' for how to call it.\n", cmd.CommandPath())
	}
	return e.code
}

// version returns the module's version and the commit it was built from.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "scopeview, version unknown (built without module support)"
	}
	v := b.Main.Version
	if v == "" || v == "(devel)" {
		v = "built from a checkout"
	}
	var commit, modified string
	for _, s := range b.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = ", commit " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " with changes"
		}
	}
	return strings.Join([]string{"scopeview " + v + commit + modified, b.GoVersion}, ", ")
}

// oneTrace checks that a command got its one argument.
func oneTrace(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("%s needs a TRACE: a file, a directory, the number of a running process, or a program's http://…/debug/scope/", cmd.Name())
	case len(args) > 1:
		return fmt.Errorf("%s takes one TRACE, not %d: %q", cmd.Name(), len(args), args)
	}
	return nil
}

// completeTrace completes TRACE: directories, and files that are traces.
func completeTrace(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"scope", "scopez"}, cobra.ShellCompDirectiveFilterFileExt
}
