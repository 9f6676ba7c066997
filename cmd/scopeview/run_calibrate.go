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

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/trace"
)

// calibration is the duration of the run that finds functions called too often.
const calibration = 2 * time.Second

// calibrated runs the program for a while, without its input and output, and returns a plan that
// leaves out functions that would have to be switched off. It discards earlier results.
func (l *launch) calibrated(ctx context.Context, plan *build.Plan, args []string) (*build.Plan, error) {
	err := plan.Forget()
	if err == nil {
		plan, err = build.Make(ctx, l.options, l.verb, args)
	}
	if err != nil {
		return nil, err
	}
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
		return nil, fmt.Errorf("running the program: %w", err)
	}
	stop := time.AfterFunc(calibration, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	kill := time.AfterFunc(2*calibration, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // normally our signal ended it
	stop.Stop()
	kill.Stop()
	file := traceOf(dir, cmd.Process.Pid, nil)
	if file == "" {
		fmt.Fprintf(l.s.err, "scopeview: calibrating: %s wrote no trace, so no function is left out\n", filepath.Base(path))
		return plan, nil
	}
	if _, err := l.learn(plan, file); err != nil {
		return nil, err
	}
	return build.Make(ctx, l.options, l.verb, args)
}

// tooHot is the reason for leaving out a function.
const tooHot = "a run showed that it is called too often for its length"

// learn makes later builds leave out the functions that a trace shows to be called too often, and
// returns the number of new ones.
func (l *launch) learn(plan *build.Plan, file string) (int, error) {
	t, err := trace.OpenFile(file)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	out := map[string]string{}
	for _, c := range analysis.TooHot(t, l.options.Budget) {
		out[t.Name(c.Name)] = tooHot
	}
	return plan.Learn(l.options.Cache, out)
}
