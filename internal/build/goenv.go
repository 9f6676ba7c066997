package build

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// environment is the result of go env.
type environment struct {
	GOROOT, GOVERSION, GOMOD, GOWORK, GOMODCACHE, GOFLAGS, GOENV string
	GOOS, GOARCH, GOHOSTOS, GOHOSTARCH                           string
}

// goCommand returns a go command in a directory ("": the working directory).
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	if dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			cmd.Env = append(cmd.Env, "PWD="+abs)
		}
	}
	return cmd
}

func askGo(ctx context.Context, dir string) (*environment, error) {
	cmd := goCommand(ctx, dir, "env", "-json", "GOROOT", "GOVERSION", "GOMOD", "GOWORK", "GOMODCACHE", "GOFLAGS", "GOENV", "GOOS", "GOARCH", "GOHOSTOS", "GOHOSTARCH")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(errs.String()); text != "" {
			return nil, fmt.Errorf("go env: %s", text)
		}
		return nil, fmt.Errorf("the go command is needed: %w", err)
	}
	var e environment
	if err := json.Unmarshal(out, &e); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return &e, nil
}

// flags returns the flags of GOFLAGS, split as by the go command.
func (e *environment) flags() []string { return strings.Fields(e.GOFLAGS) }

// within reports whether a path is in a directory.
func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
