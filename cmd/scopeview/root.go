package main

import (
	"cmp"
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

func init() { cobra.EnableCommandSorting = false } // the table's order is by use

// newRoot returns the command scopeview with all others below it.
func newRoot(s *streams) *cobra.Command {
	h := helpOf("scopeview")
	root := &cobra.Command{
		Use: "scopeview [TRACE]", Short: h.short, Long: h.long, Example: h.examples,
		Version: version(), SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error { return asExit(openAny(cmd, s, args)) },
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetVersionTemplate("{{.Version}}\n")
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	above := map[string]*cobra.Command{"": root}
	list := commands()
	for i := range list {
		c := list[i].build(s)
		parent, _, _ := strings.Cut(list[i].name, " ")
		if parent == list[i].name {
			above[parent], parent = c, ""
		}
		above[parent].AddCommand(c)
	}
	return root
}

// execute runs the command in args and returns its exit code.
func execute(ctx context.Context, s *streams, args []string) int {
	s.completing = len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
	root := newRoot(s)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd == root && !strings.HasPrefix(args[0], "-") {
			return cmp.Or(noCommand(root, args[0]), err) // the flags are those of a command that does not exist
		}
		return err
	})
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{exitUsage, err} // errors before a command runs are about the command line
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
		fmt.Fprintf(s.err, "Run '%s --help' for usage.\n", cmd.CommandPath())
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
