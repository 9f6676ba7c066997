package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/show"
)

// launch is a program that scopeview builds, and may run.
type launch struct {
	*call
	verb build.Verb

	options   build.Options
	budget    string
	calibrate bool
	dir       string
	noStates  bool
	propagate bool
	serve     bool
	attach    bool
	keep      bool
	advise    adviseOptions
	root      string // path prefix of the files of advice
}

func newRun(c *call) func() error {
	l := launchOf(c, build.Run)
	f := c.flags()
	f.BoolVar(&l.serve, "serve", false, "show the timeline in the browser while the program runs")
	f.BoolVar(&l.calibrate, "calibrate", false, "first run the program for two seconds, to find functions that are called too often for their length")
	f.BoolVar(&l.attach, "attach-env", false, "list the environment variables that make a program of scopeview build record, and do nothing else")
	l.recording()
	return l.do
}

func newBuild(c *call) func() error { return launchOf(c, build.Build).do }

func newTest(c *call) func() error {
	l := launchOf(c, build.Test)
	c.flags().BoolVar(&l.keep, "keep", false, "keep the traces of packages whose tests pass, too")
	l.recording()
	return l.do
}

// launchOf defines the flags of building.
func launchOf(c *call, verb build.Verb) *launch {
	l := &launch{call: c, verb: verb}
	f := c.flags()
	f.StringArrayVar(&l.options.Trace, "trace", nil, "record the functions of packages that match `PATTERN`, as in go list; a leading - excludes; may be repeated (default: the main module)")
	f.StringSliceVar(&l.options.Advise, "advise", nil, "count the uses of containers, buffers and locks, and give advice of these `GROUPS` (default: all)")
	f.Lookup("advise").NoOptDefVal = "all"
	f.BoolVar(&l.options.Memory, "memory", false, "sample loads and stores of the traced packages, in bursts; implies --advise=multithreaded,locality")
	f.BoolVar(&l.options.Args, "args", false, "record arguments that are numbers, strings, bools and durations")
	f.BoolP("help", "h", false, "help for "+string(verb))
	return l
}

// recording adds flags of the recording itself.
func (l *launch) recording() {
	f := l.flags()
	f.StringVarP(&l.dir, "output", "o", "", "write traces into `DIR` (default: the newest ten of each program, in the user's cache directory)")
	f.StringVar(&l.budget, "budget", "3%", "limit recording to this `SHARE` of the CPU time")
	f.StringVar(&l.root, "advise-root", "", "write the results of --advise to `PATH`.txt, .raw and .conf.out (default: scope-profile beside the traces)")
	l.advise.parameters(l.cmd, "advise-set")
	f.BoolVar(&l.propagate, "propagate", false, "send the header traceparent with requests made during a request, so that their receivers' scopes belong to it")
	f.BoolVar(&l.noStates, "no-states", false, "do not record the states of goroutines (Go's execution trace, and a CPU profile)")
}

// split separates scopeview's arguments, which come first, from the others.
func (l *launch) split(args []string) (ours, theirs []string) {
	for i := 0; i < len(args); {
		name, _, with := strings.Cut(args[i], "=")
		f := l.cmd.Flags().Lookup(strings.TrimPrefix(name, "--"))
		switch {
		case name == "-h" || name == "--help" || name == "-help":
			return append(ours, "--help"), nil
		case name == "-o" && l.cmd.Flags().ShorthandLookup("o") != nil:
			f = l.cmd.Flags().ShorthandLookup("o")
		case !strings.HasPrefix(name, "--") || f == nil:
			return ours, args[i:]
		}
		n := 1
		if !with && f.NoOptDefVal == "" {
			n = 2
		}
		n = min(n, len(args)-i)
		ours = append(ours, args[i:i+n]...)
		i += n
	}
	return ours, nil
}

func (l *launch) do() error {
	ours, args := l.split(l.args)
	if err := l.flags().Parse(ours); err != nil {
		return &exit{exitUsage, err}
	}
	if help, _ := l.flags().GetBool("help"); help {
		return l.cmd.Help()
	}
	ctx := l.context()
	l.options.Tool, l.options.Self = executable()
	var err error
	if l.options.Cache, err = build.OpenCache(); err != nil {
		return err
	}
	if err := l.parseBudget(); err != nil {
		return err
	}
	if err := l.groups(); err != nil {
		return err
	}
	if len(l.options.Advise) > 0 {
		if _, err := l.advise.params(l.cmd, ""); err != nil {
			return err
		}
	}
	if l.attach {
		return l.printEnv()
	}
	if err := l.misplaced(args); err != nil {
		return err
	}
	plan, err := build.Make(ctx, l.options, l.verb, args)
	if err != nil {
		var said *build.GoError
		if errors.As(err, &said) {
			fmt.Fprintln(l.s.err, said.Text)
			return &exit{code: exitUsage}
		}
		if ctx.Err() != nil {
			return ctx.Err() // the interruption ended the go command
		}
		return l.refused(err)
	}
	for _, n := range plan.Notes {
		fmt.Fprintf(l.s.err, "scopeview: %s\n", show.Text(n))
	}
	switch l.verb {
	case build.Build:
		return l.build(ctx, plan)
	case build.Test:
		return l.test(ctx, plan)
	}
	return l.run(ctx, plan, args)
}

// build builds the program, unless the previous build exists and nothing it depends on has changed.
func (l *launch) build(ctx context.Context, plan *build.Plan) error {
	target := plan.Target()
	if plan.Built(ctx, target) {
		// As go build does, for users who compare times.
		if now := time.Now(); os.Chtimes(target, now, now) == nil {
			return plan.SetBuilt(l.options.Cache, target)
		}
	}
	if err := l.goCommand(plan, plan.Command(ctx, build.Build), exitUsage); err != nil {
		return err
	}
	return plan.SetBuilt(l.options.Cache, target)
}

// misplaced finds a flag of scopeview among those of the go command, which would reject it, or take
// it for a flag of the test program and the following ones for its arguments.
func (l *launch) misplaced(args []string) error {
	line, err := build.Parse(l.verb, args)
	if err != nil {
		return nil // the later parsing reports it
	}
	for _, f := range line.Flags {
		name, _, _ := strings.Cut(f, "=")
		if l.verb == build.Test && name == "--trace" {
			continue // go test also has it
		}
		if strings.HasPrefix(name, "--") && l.cmd.Flags().Lookup(name[2:]) != nil {
			return usagef("%s is a flag of scopeview: give it before those of go %s", name, l.verb)
		}
	}
	return nil
}

// refused prints why nothing is built. As a rule the command line is not the cause.
func (l *launch) refused(err error) error {
	fmt.Fprintf(l.s.err, "scopeview: %s\n", show.Text(err.Error()))
	return &exit{code: exitUsage}
}

// executable returns an identification of this build of the tool, whose plans differ from those of
// other builds, and its path.
func executable() (state, path string) {
	state = version()
	path, err := os.Executable()
	if err != nil {
		return state, os.Args[0]
	}
	if st, err := os.Stat(path); err == nil {
		state = fmt.Sprint(state, st.Size(), st.ModTime().UnixNano())
	}
	return state, path
}

// goCommand runs the go command, with its output relabelled. If the command fails, code is the exit
// code, or the command's own if code is 0.
func (l *launch) goCommand(plan *build.Plan, cmd *exec.Cmd, code int) error {
	stdout, err := plan.Relabel(l.s.out)
	if err != nil {
		return err
	}
	stderr, err := plan.Relabel(l.s.err)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	err = forwarding(cmd)
	if err := errors.Join(stdout.Close(), stderr.Close()); err != nil {
		return err
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		if code == 0 {
			code = exitCode(failed.ProcessState)
		}
		return &exit{code: code}
	}
	return err
}

// variables returns the environment variables that make the program record into dir.
func (l *launch) variables(dir string) []string {
	env := []string{"SCOPEVIEW=" + dir + string(filepath.Separator), "SCOPEVIEW_BUDGET=" + l.budget}
	if os.Getenv("SCOPEVIEW_RING") == "" && os.Getenv("SCOPEVIEW_LIMIT") == "" {
		env = append(env, "SCOPEVIEW_LIMIT=1G") // the whole run, not only its end
	}
	if l.noStates {
		env = append(env, "SCOPEVIEW_STATES=0")
	}
	if l.propagate {
		env = append(env, "SCOPEVIEW_PROPAGATE=1")
	}
	return append(env, l.adviseVariables(dir)...)
}

func (l *launch) printEnv() error {
	dir := l.dir
	if dir == "" {
		dir = "traces"
	}
	_, err := fmt.Fprintln(l.s.out, strings.Join(l.variables(strings.TrimRight(dir, string(filepath.Separator))), "\n"))
	return err
}

// traces creates the directory for the traces of a program.
func (l *launch) traces(program string) (string, error) {
	dir := l.dir
	if dir == "" {
		dir = l.options.Cache.Traces(program)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("no directory for traces: %w; give one with -o DIR", err)
	}
	return dir, nil
}

// tracesIn lists the traces in a directory.
func tracesIn(dir string) []string {
	list, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return nil // the pattern is valid
	}
	return list
}

// newToolexec makes the command that the go command runs instead of its tools: see build.Tool.
func newToolexec(c *call) func() error {
	return func() error {
		code, err := build.Tool(c.context(), c.args)
		if err == nil && code != 0 {
			err = &exit{code: code}
		}
		return err
	}
}

// parseBudget rejects budgets that the program would reject. For build, which has no such flag, it
// uses the program's default.
func (l *launch) parseBudget() error {
	s := l.budget
	if s == "" {
		s = "3%"
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !(n > 0 && n <= 100) {
		return usagef("--budget %s: it takes a share of the CPU time, from above 0%% to 100%%, as 3%%", s)
	}
	l.options.Budget = n / 100
	return nil
}
