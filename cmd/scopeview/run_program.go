package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/live"
	"github.com/scopeview/scopeview/internal/page"
	"github.com/scopeview/scopeview/internal/show"
)

// run builds the program and runs it.
func (l *launch) run(ctx context.Context, plan *build.Plan, args []string) error {
	if plan.Shown {
		return l.goCommand(plan, plan.Command(ctx, build.Build), exitUsage)
	}
	if l.calibrate {
		var err error
		if plan, err = l.calibrated(ctx, plan, args); err != nil {
			return err
		}
	}
	path, err := l.built(ctx, plan)
	if err != nil {
		return err
	}
	dir, err := l.traces(filepath.Base(path))
	if err != nil {
		return err
	}
	if l.dir == "" {
		l.options.Cache.PruneTraces(dir)
	}
	stop, remove, err := l.live(ctx, dir)
	if err != nil {
		return err
	}
	defer remove()
	before, raws := tracesIn(dir), rawsIn(dir)
	pid, code, ended, err := l.program(plan, path, l.variables(dir))
	if err != nil {
		return err
	}
	if trace := traceOf(dir, pid, before); trace == "" {
		fmt.Fprintf(l.s.err, "scopeview: %s wrote no trace in %s; a program that starts its own recording chooses the path\n", filepath.Base(path), show.Name(dir))
	} else {
		fmt.Fprintf(l.s.err, "scopeview: %s\n", show.Name(trace))
		l.printSummary(ctx, trace, ended)
		l.learnAndReport(plan, trace)
		if l.opens() {
			l.show(ctx, trace)
		}
	}
	l.printAdvice(dir, raws)
	if stop != nil {
		stop()
	}
	if code != 0 {
		return &exit{code: code}
	}
	return nil
}

// opens reports whether to open the page: as --open says, or if there is a user with a display.
func (l *launch) opens() bool {
	if l.changed("open") {
		return l.openPage
	}
	return l.s.outTerm && l.s.errTerm && !l.serve && hasDisplay(runtime.GOOS, os.Getenv)
}

// hasDisplay reports whether a browser has a display.
func hasDisplay(system string, getenv func(string) string) bool {
	switch {
	case getenv("SSH_CONNECTION") != "" && getenv("DISPLAY") == "":
		return false
	case system == "darwin" || system == "windows":
		return true
	}
	return getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}

// built builds the program to run, and returns its path.
func (l *launch) built(ctx context.Context, plan *build.Plan) (string, error) {
	path := plan.Executable(l.options.Cache)
	if plan.Built(ctx, path) {
		return path, nil
	}
	more := []string{"-o", path}
	if !slices.ContainsFunc(plan.Flags, func(f string) bool { return strings.Contains(f, "buildvcs") }) {
		more = append(more, "-buildvcs=false") // as go run
	}
	if err := l.goCommand(plan, plan.Command(ctx, build.Build, more...), exitUsage); err != nil {
		return "", err
	}
	return path, plan.SetBuilt(l.options.Cache, path)
}

// program runs the program, and returns its exit code and how it ended, in the form of
// analysis.FactEnded.
func (l *launch) program(plan *build.Plan, path string, env []string) (pid, code int, ended string, err error) {
	words := append(slices.Clone(plan.Exec), path)
	cmd := exec.Command(words[0], append(words[1:], plan.Rest...)...)
	cmd.Dir = plan.Dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, l.s.out, l.s.err
	var failed *exec.ExitError
	if err := forwarding(cmd); err != nil && !errors.As(err, &failed) {
		return 0, 0, "", fmt.Errorf("running %s: %w", path, err)
	}
	return cmd.Process.Pid, exitCode(cmd.ProcessState), endedBy(cmd.ProcessState), nil
}

// forwarding runs a command, and forwards the signals that this process receives.
func forwarding(cmd *exec.Cmd) error {
	signals := make(chan os.Signal, 16)
	if list := notIgnored(forwarded...); len(list) > 0 {
		signal.Notify(signals, list...)
	}
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			if sig != os.Interrupt || !fromTerminal() {
				_ = cmd.Process.Signal(sig) // it may have ended
			}
		case err := <-ended:
			return err
		}
	}
}

// notIgnored returns the signals that are not ignored. An ignored signal, as under nohup, stays ignored
// in the program only if this process does not catch it.
func notIgnored(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(signals), signal.Ignored)
}

// traceOf returns the trace that a process has left in a directory, and is not in before; "" if
// there is none. The command of -exec may run the program in another process: then it is the trace
// of the only process that has left any.
func traceOf(dir string, pid int, before []string) string {
	made := slices.DeleteFunc(tracesIn(dir), func(path string) bool { return slices.Contains(before, path) })
	for _, path := range made {
		if strings.Contains(filepath.Base(path), fmt.Sprintf("-%d-", pid)) {
			return path
		}
	}
	if len(made) == 1 {
		return made[0]
	}
	return ""
}

// printSummary prints the main facts about a trace.
func (l *launch) printSummary(ctx context.Context, path, ended string) {
	t, _, err := openTrace(context.WithoutCancel(ctx), path)
	if err != nil {
		fmt.Fprintf(l.s.err, "scopeview: %s\n", show.Text(err.Error()))
		return
	}
	defer t.Close()
	if line := analysis.LossLine(t); line != "" {
		fmt.Fprintf(l.s.err, "scopeview: %s\n", l.s.alarm(line))
	}
	end := analysis.EndOf(t, stateOf(t, path))
	if by := analysis.EndedBy(ended, t.End()); by != nil && (end == nil || end.How == "unclosed") {
		end = by
	}
	if end != nil {
		fmt.Fprintf(l.s.err, "scopeview: %s\n", l.s.alarm(end.Text))
	}
	r, err := doctor.Examine(t, doctor.Options{Context: context.WithoutCancel(ctx)})
	switch {
	case err != nil:
		fmt.Fprintf(l.s.err, "scopeview: doctor: %s\n", show.Text(err.Error()))
	case len(r.Findings) > 0:
		fmt.Fprintf(l.s.err, "scopeview: %s: %s\n", r.Findings[0].Verdict, show.Text(r.Findings[0].Text))
	case l.verb == build.Run && end == nil: // there are many tests
		fmt.Fprintln(l.s.err, "scopeview: the doctor finds no problem")
	}
	for _, line := range analysis.NotRecorded(t) {
		fmt.Fprintf(l.s.err, "scopeview: %s\n", line)
	}
}

// learnAndReport learns from the traces of a run, and prints the result.
func (l *launch) learnAndReport(plan *build.Plan, traces ...string) {
	sum := 0
	for _, path := range traces {
		n, err := l.learn(plan, path)
		if err != nil {
			fmt.Fprintf(l.s.err, "scopeview: %s\n", show.Text(err.Error()))
		}
		sum += n
	}
	if sum > 0 {
		fmt.Fprintf(l.s.err, "scopeview: %s called too often for a budget of %s; the next build leaves out such functions\n", show.Plural(int64(sum), "function"), l.budget)
	}
}

// show writes the page beside the trace, and opens it.
func (l *launch) show(ctx context.Context, path string) {
	t, _, err := openTrace(ctx, path)
	if err == nil {
		defer t.Close()
		out := output{path: strings.TrimSuffix(path, extension) + ".html"}
		err = out.write(l.s, func(w io.Writer) error {
			return page.Write(ctx, w, t, page.Options{Max: page.DefaultMax, Path: path, Writer: writerOf(stateOf(t, path)), Tool: version(), Weights: machineWeights()})
		})
		if err == nil {
			err = openFileInBrowser(out.path)
		}
	}
	if err != nil {
		fmt.Fprintf(l.s.err, "scopeview: %s\n", show.Text(err.Error()))
	}
}

// live serves the timeline while the program runs. The returned stop continues to serve until it is
// interrupted, or returns at once if the tool was asked to end before; remove is leadBrowser's.
func (l *launch) live(ctx context.Context, dir string) (stop, remove func(), err error) {
	if !l.serve {
		return nil, func() {}, nil
	}
	ln, err := listen(ctx, "127.0.0.1:0", false)
	if err != nil {
		return nil, nil, err
	}
	server, err := live.New(live.Options{Path: dir, Version: version(), Weights: machineWeights()})
	if err != nil {
		ln.Close()
		return nil, nil, err
	}
	address := server.Address(ln.Addr())
	fmt.Fprintf(l.s.err, "scopeview: %s\n", address)
	remove, err = leadBrowser(ctx, address, server.Entered())
	if err != nil {
		fmt.Fprintf(l.s.err, "scopeview: %s; open the address yourself\n", show.Text(err.Error()))
	}
	// A Ctrl-C that ends the program does not end the page. Other signals are sent only once, by a
	// supervisor or for a closed terminal, and would leave a page that is never ended.
	asked := make(chan os.Signal, 1)
	if list := notIgnored(syscall.SIGTERM, syscall.SIGHUP); len(list) > 0 {
		signal.Notify(asked, list...)
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(serving, ln) }()
	return func() {
		fmt.Fprintf(l.s.err, "scopeview: the program has ended; Ctrl-C ends the page\n")
		if list := notIgnored(os.Interrupt); len(list) > 0 {
			signal.Notify(asked, list...)
		}
		<-asked
		signal.Stop(asked)
		end()
		select {
		case <-ended:
		case <-time.After(time.Second):
		}
	}, remove, nil
}
