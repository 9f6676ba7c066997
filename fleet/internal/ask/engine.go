package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/scopeview/scopeview/internal/release"
)

// Form is the format of rows.
type Form string

// The forms.
const (
	Table Form = "table"
	JSON  Form = "json"
	CSV   Form = "csv"
)

// Run runs SQL in DuckDB and prints the rows of the last statement.
func Run(ctx context.Context, sql string, f Form, out, errs io.Writer) error {
	path, args, err := engine(f)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(sql), out, errs
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "AWS_") { // it reads only files
			cmd.Env = append(cmd.Env, v)
		}
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("running %s: %w", filepath.Base(path), err)
	}
	return nil
}

// engine finds DuckDB: its own command, or else scopeview-duckdb, beside this program or in
// PATH.
func engine(f Form) (path string, args []string, err error) {
	if path, err = exec.LookPath("duckdb"); err == nil {
		how := map[Form]string{Table: "-box", JSON: "-json", CSV: "-csv"}[f]
		return path, []string{"-init", os.DevNull, "-batch", "-bail", how}, nil
	}
	const ours = "scopeview-duckdb"
	args = []string{"-format", string(f)}
	if self, err := os.Executable(); err == nil {
		if p, err := exec.LookPath(filepath.Join(filepath.Dir(self), ours)); err == nil {
			return p, args, nil
		}
	}
	if path, err = exec.LookPath(ours); err == nil {
		return path, args, nil
	}
	return "", nil, errors.New("DuckDB is not here: install its command duckdb (https://duckdb.org/install), or ours by " + Install(ours, "fleet/duckdb/cmd/"+ours))
}

// Install returns the command that installs a program of this version.
func Install(program, dir string) string {
	if v := release.Of(); strings.HasPrefix(v, "v") {
		return "go install github.com/scopeview/scopeview/" + dir + "@" + v
	}
	return "make fleet in a checkout of scopeview, which builds bin/" + program
}
