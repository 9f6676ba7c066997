package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/release"
)

// companion is the program with the commands that need large libraries: Parquet's, and those of
// object stores. The tool itself does not link them.
const companion = "scopeview-fleet"

// newCompanion returns a command that passes its arguments, flags included, to a command of the
// companion.
func newCompanion(s *streams, use, short, long, example string, to ...string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Long:               long + "\n\nIt is done by " + companion + ", which has to be beside scopeview or in PATH. Then --help lists the flags.",
		DisableFlagParsing: true,
		Annotations:        map[string]string{ownAddress: companion + " reads files"},
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := findCompanion(cmd.Context())
			if err != nil {
				for _, a := range args {
					if a == "-h" || a == "--help" {
						return cmd.Help()
					}
				}
				return err
			}
			c := exec.CommandContext(cmd.Context(), path, append(to, args...)...)
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, s.out, s.err
			c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
			var failed *exec.ExitError
			if err := c.Run(); errors.As(err, &failed) && failed.ExitCode() > 0 {
				return &exit{failed.ExitCode(), nil} // the companion has printed the reason
			} else if err != nil {
				return fmt.Errorf("running %s: %w", path, err)
			}
			return nil
		},
	}
}

// findCompanion finds the companion of this version, beside this program or in PATH.
func findCompanion(ctx context.Context) (string, error) {
	var path string
	if self, err := os.Executable(); err == nil {
		path, _ = exec.LookPath(filepath.Join(filepath.Dir(self), companion))
	}
	if path == "" {
		var err error
		if path, err = exec.LookPath(companion); err != nil {
			return "", fmt.Errorf("%s is neither beside scopeview nor in PATH: %s", companion, installs())
		}
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", path, err)
	}
	if its, own := strings.TrimSpace(string(out)), release.Of(); its != own {
		return "", fmt.Errorf("%s is of version %s, and this is %s: %s", path, its, own, installs())
	}
	return path, nil
}

// installs returns the command that installs the companion.
func installs() string {
	if v := release.Of(); strings.HasPrefix(v, "v") {
		return "go install github.com/scopeview/scopeview/fleet/cmd/" + companion + "@" + v + " installs it"
	}
	return "make fleet builds both in a checkout of scopeview, into bin/"
}
