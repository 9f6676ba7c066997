package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/scopeview/scopeview/internal/scopevet"
)

// isVetTool reports whether the go command has called the tool as the -vettool of go vet, which
// checks one package after the other: it asks for the version and the flags, then passes a file
// ending in .cfg after those flags. No command of ours looks like that.
func isVetTool(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := len(args) - 1
	for _, a := range args[:last] {
		if !strings.HasPrefix(a, "-") {
			return false
		}
	}
	return args[last] == "-V=full" || args[last] == "-flags" || strings.HasSuffix(args[last], ".cfg")
}

// vetTool acts as a vet tool, and exits.
func vetTool() { unitchecker.Main(scopevet.Analyzer) }

func newVet(s *streams) *cobra.Command {
	var tags string
	cmd := &cobra.Command{
		Use:   "vet [PACKAGE…]",
		Short: "Find calls of package scope that are mistakes",
		Long: `vet looks at Go packages (./... if none is named), not at a trace. It reports

  - a Task, Process, Pending, Lock, Begin or Context whose result is dropped, or deferred without
    being called: defer scope.Task("x") lacks the second ()
  - a scope that ends where it begins: scope.Task("x")() without defer
  - verbs of a Taskf that do not fit its arguments
  - a scope that never ends, or that a return, a continue or a break leaves behind

It exits with code 1 if there is something to report. It needs the go command; with that alone it
is go vet -vettool=$(which scopeview) ./... and go fix -fixtool=$(which scopeview) ./... adds
what a deferred call lacks.`,
		Example: `  scopeview vet
  scopeview vet ./server/... ./cmd/server`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, packages []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("vet gives itself to the go command, and its file can't be found: %w", err)
			}
			if len(packages) == 0 {
				packages = []string{"./..."}
			}
			// The go command handles build tags, modules and caching, and passes findings on
			// unchanged.
			args := []string{"vet", "-vettool=" + self}
			if cmd.Flags().Changed("tags") { // otherwise those of GOFLAGS apply
				args = append(args, "-tags="+tags)
			}
			args = append(append(args, "--"), packages...)
			vet := exec.CommandContext(cmd.Context(), "go", args...)
			vet.Stdout, vet.Stderr = s.out, s.err
			err = vet.Run()
			var code *exec.ExitError
			if errors.As(err, &code) && cmd.Context().Err() == nil {
				return &exit{code: exitFailed} // the go command has printed the reason
			}
			if err != nil {
				return fmt.Errorf("vet needs the go command: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&tags, "tags", "", "build `TAGS` to look with, as go vet takes them")
	return cmd
}
