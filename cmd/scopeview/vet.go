package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

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

func newVet(c *call) func() error {
	tags := c.flags().String("tags", "", "use these build `TAGS`, as go vet does")
	return func() error {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding scopeview's own file for go vet: %w", err)
		}
		packages := c.args
		if len(packages) == 0 {
			packages = []string{"./..."}
		}
		// The go command handles build tags, modules and caching, and passes findings on
		// unchanged.
		args := []string{"vet", "-vettool=" + self}
		if c.changed("tags") { // otherwise those of GOFLAGS apply
			args = append(args, "-tags="+*tags)
		}
		args = append(append(args, "--"), packages...)
		vet := exec.CommandContext(c.context(), "go", args...)
		vet.Stdout, vet.Stderr = c.s.out, c.s.err
		err = vet.Run()
		var code *exec.ExitError
		if errors.As(err, &code) && c.context().Err() == nil {
			return &exit{code: exitFailed} // the go command has printed the reason
		}
		if err != nil {
			return fmt.Errorf("vet needs the go command: %w", err)
		}
		return nil
	}
}
