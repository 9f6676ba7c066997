package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/trace"
)

// calibration is how long a program is run to find out which functions are called too often.
const calibration = 2 * time.Second

// calibrated runs the program for a while, without its input and output, and returns a plan that
// leaves out what would have to be switched off anyway: counting its calls costs too.
func (l *launch) calibrated(ctx context.Context, plan *build.Plan, args []string) (*build.Plan, error) {
	path, err := l.built(ctx, plan)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(l.s.err, "scopeview: calibrating: %s runs for %v, without input and output\n", filepath.Base(path), calibration)
	words := append(slices.Clone(plan.Exec), path)
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], plan.Rest...)...)
	cmd.Dir, cmd.Env = plan.Dir, append(os.Environ(), l.variables(dir)...)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("running what was built: %w", err)
	}
	stop := time.AfterFunc(calibration, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	kill := time.AfterFunc(2*calibration, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // by our signal, as a rule
	stop.Stop()
	kill.Stop()
	file := traceOf(dir, cmd.Process.Pid, nil)
	if file == "" {
		fmt.Fprintf(l.s.err, "scopeview: calibrating: %s left no trace, so nothing is left out for it\n", filepath.Base(path))
		return plan, nil
	}
	t, err := trace.OpenFile(file)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	l.options.Out = tooHot(t)
	if len(l.options.Out) == 0 {
		return plan, nil
	}
	return build.Make(ctx, l.options, l.verb, args)
}

// tooHot are the functions whose calls were not all recorded.
func tooHot(t *trace.Trace) map[string]string {
	out := map[string]string{}
	for _, c := range t.Calls() {
		if c.Recorded < c.Calls {
			out[t.Name(c.Name)] = "calibrating found that it is called too often for its length"
		}
	}
	return out
}
