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

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/show"
)

const runHelp = `run is go run for a program that nobody has changed: it is built by the go command so that it records, and
run. Its functions are scopes, its goroutines rows by what they were started for, and every lock of the program that
somebody had to wait for is there with who had it. At the end scopeview says on standard error where the trace is, and
what the doctor finds first. What the program prints, reads and returns is what it would be without.

The flags of scopeview stand before those of go run; -o is where traces go. Nothing of yours is written: go.mod, the
source and GOROOT stay as they are, and what is generated lies in the user's cache directory.

Recording is held to --budget of the CPU time. Functions that the compiler would inline, and those that a default.pgo
shows to be called too often for their length, are left out; others are switched off while they would take more than
their share, and their calls are counted. What a run shows to be called too often even for that is left out of the next
build of the same packages; --calibrate forgets what was learnt, and runs the program for two seconds to learn anew.
scopeview info says what is left out, and why.
`

const buildHelp = `build is go build, and what it builds records when the environment says so:

  SCOPEVIEW=traces/ ./server

scopeview run --attach-env prints the variables that there are. Without SCOPEVIEW the program is what it would be,
but for a load and a branch in each function. The flags of scopeview stand before those of go build; -o is go build's.
`

const testHelp = `test is go test, and each test has a row, with its subtests; time that a parallel test pauses is shown as such.
There is a trace for each package whose tests fail; --keep keeps those of all, which then run even if their
results are cached. At the end scopeview says which tests failed, and what the doctor finds first. The flags of
scopeview stand before those of go test; -o is where traces go.

Of -fuzz the seeds are recorded. A test that a test begins again leaves no trace.
`

// launch is a program that scopeview builds, and may run.
type launch struct {
	s    *streams
	verb build.Verb
	cmd  *cobra.Command

	options   build.Options
	budget    string
	calibrate bool
	dir       string
	noStates  bool
	propagate bool
	open      bool
	serve     bool
	attach    bool
	keep      bool
	advise    adviseOptions
	root      string // path prefix of the files of advice
}

func newRun(s *streams) *cobra.Command { return (&launch{s: s, verb: build.Run}).runCommand() }

func (l *launch) runCommand() *cobra.Command {
	cmd := l.command("run [flags] [go run's flags] PACKAGE [ARGUMENTS]", "Build and run a program that nobody has changed, and record it", runHelp,
		`  scopeview run ./cmd/server -addr :8080
  scopeview run --open .
  scopeview run --trace './...' --trace github.com/lib/pq -o traces/ -race ./cmd/server
  scopeview run --calibrate --args ./cmd/convert in.json`)
	f := cmd.Flags()
	f.StringVarP(&l.dir, "output", "o", "", "write traces into `DIR` (default: the newest ten of each program, in the user's cache directory)")
	f.BoolVar(&l.open, "open", false, "open the timeline in the browser at the end (default: on a terminal, where there is a display)")
	f.BoolVar(&l.serve, "serve", false, "show the timeline in the browser while the program runs")
	f.BoolVar(&l.calibrate, "calibrate", false, "run the program for two seconds before, to find out which functions are called too often for their length")
	f.BoolVar(&l.attach, "attach-env", false, "print the variables that have a program of scopeview build record, and do nothing else")
	l.recording()
	return cmd
}

func newBuild(s *streams) *cobra.Command {
	l := &launch{s: s, verb: build.Build}
	return l.command("build [flags] [go build's flags] [PACKAGE…]", "Build a program that nobody has changed, so that it can record", buildHelp,
		`  scopeview build -o server ./cmd/server && SCOPEVIEW=traces/ ./server
  scopeview build --trace './...' -trimpath -ldflags=-s -o server ./cmd/server`)
}

func newTest(s *streams) *cobra.Command {
	l := &launch{s: s, verb: build.Test}
	cmd := l.command("test [flags] [go test's flags] [PACKAGE…]", "Run tests that nobody has changed, and keep a trace of those that fail", testHelp,
		`  scopeview test ./...
  scopeview test --keep -o traces/ -run TestFlush -race ./store
  scopeview test --keep -bench . -run NONE ./codec`)
	f := cmd.Flags()
	f.StringVarP(&l.dir, "output", "o", "", "write traces into `DIR` (default: the newest ten of each program, in the user's cache directory)")
	f.BoolVar(&l.keep, "keep", false, "keep the traces of packages whose tests pass, too")
	l.recording()
	return cmd
}

// command returns the command, with the flags of building.
func (l *launch) command(use, short, long, example string) *cobra.Command {
	l.cmd = &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		DisableFlagParsing: true, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			ours, theirs := l.split(args)
			if err := cmd.Flags().Parse(ours); err != nil {
				return &exit{exitUsage, err}
			}
			if help, _ := cmd.Flags().GetBool("help"); help {
				return cmd.Help()
			}
			return l.do(cmd.Context(), theirs)
		},
	}
	f := l.cmd.Flags()
	f.StringArrayVar(&l.options.Trace, "trace", nil, "record the functions of packages that match `PATTERN`, as go list takes it; a leading - excludes; may be repeated (default: the main module)")
	f.StringSliceVar(&l.options.Advise, "advise", nil, "count how containers, buffers and locks are used, and give advice; of these `GROUPS` (default: all)")
	f.Lookup("advise").NoOptDefVal = "all"
	f.BoolVar(&l.options.Memory, "memory", false, "look at loads and stores of the packages that are traced, in bursts; implies --advise=multithreaded,locality")
	f.BoolVar(&l.options.Args, "args", false, "record arguments that are numbers, strings, bools and durations")
	f.BoolP("help", "h", false, "help for "+string(l.verb))
	return l.cmd
}

// recording adds flags of the recording itself.
func (l *launch) recording() {
	f := l.cmd.Flags()
	f.StringVar(&l.budget, "budget", "3%", "let recording take at most this `SHARE` of the CPU time")
	f.StringVar(&l.root, "advise-root", "", "write what --advise has found to `PATH`.txt, .raw and .conf.out (default: scope-profile beside the traces)")
	l.advise.parameters(l.cmd, "advise-set")
	f.BoolVar(&l.propagate, "propagate", false, "send the header traceparent with requests of a request, so that what their receivers record is a part of it")
	f.BoolVar(&l.noStates, "no-states", false, "do not record what each goroutine did (Go's execution trace, and a CPU profile)")
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

func (l *launch) do(ctx context.Context, args []string) error {
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
			return usagef("%s is a flag of scopeview, and stands before those of go %s", name, l.verb)
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
		return "", fmt.Errorf("the traces have no place: %w; give another with -o DIR", err)
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

// newToolexec returns the command that the go command runs instead of its tools: see build.Tool.
func newToolexec() *cobra.Command {
	return &cobra.Command{
		Use: "toolexec", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := build.Tool(cmd.Context(), args)
			if err == nil && code != 0 {
				err = &exit{code: code}
			}
			return err
		},
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
