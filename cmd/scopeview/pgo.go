package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/internal/outside"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/show"
)

// profileInputOf defines the flags for reading a PROFILE.
func profileInputOf(c *call) *profileInput {
	in := &profileInput{call: c}
	f := c.flags()
	f.StringVar(&in.binary, "binary", "", "read the executable that ran from `FILE`, for a recording or a perf.data")
	f.StringVar(&in.event, "event", "", "read the samples of event `NAME` from a perf.data (default: the first)")
	f.StringVar(&in.ran, "executable", "", "read the samples of the executable `NAME`, if a recording has several (default: the only one), or of a perf.data (default: the one with most samples)")
	return in
}

// edges reads a PROFILE, and returns it with the edges that the compiler derives from it.
func (in *profileInput) edges(ctx context.Context, arg string) (*input, *pgo.Edges, error) {
	x, err := in.read(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	e, err := x.samples.Edges()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", show.Name(arg), err)
	}
	if !e.Lines && len(e.Weight) > 0 {
		fmt.Fprintf(in.s.err, "scopeview: %s: no function's first line is known, so the compiler refuses it; profiles of Go 1.20 and later have them\n", show.Name(arg))
	}
	return x, e, nil
}

// merge adds up profiles. It reads as many at once as there are processors, and keeps none in
// memory.
func (in *profileInput) merge(names []string, weights []float64, by pgo.By) (*pgo.Profile, error) {
	sum := pgo.NewMerger(by)
	step := in.s.steps("profile ")
	defer in.s.stepsDone()
	for batch := range len(names) {
		at := batch * runtime.GOMAXPROCS(0)
		if at >= len(names) {
			break
		}
		step(at, len(names))
		list, err := in.readSeveral(names[at:min(at+runtime.GOMAXPROCS(0), len(names))])
		if err != nil {
			return nil, err
		}
		for i, x := range list {
			if err := sum.Add(x.name, x.samples, weights[at+i]); err != nil {
				return nil, fmt.Errorf("%s: %w", show.Name(x.name), err)
			}
		}
	}
	p, n := sum.Profile()
	total, err := p.Total()
	if err != nil {
		return nil, err
	}
	if total == 0 {
		return nil, fmt.Errorf("no call in %s, so the compiler could not use the result: no profile is written", show.Plural(int64(n), "profile"))
	}
	fmt.Fprintf(in.s.err, "scopeview: %d %s of %s\n", total, p.Unit, show.Plural(int64(n), "profile"))
	return p, nil
}

func (in *profileInput) readSeveral(names []string) ([]*input, error) {
	var (
		wait  sync.WaitGroup
		list  = make([]*input, len(names))
		notes = make([][]string, len(names))
		errs  = make([]error, len(names))
	)
	for i, name := range names {
		wait.Go(func() { list[i], notes[i], errs[i] = in.readQuietly(in.context(), name) })
	}
	wait.Wait()
	for i := range names {
		in.say(list[i], notes[i])
	}
	return list, errors.Join(errs...)
}

// writeProfile writes a profile for the compiler.
func (c *call) writeProfile(p *pgo.Profile) error {
	return c.out.write(c.s, func(w io.Writer) error { return p.Write(w) })
}

func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

func newPgoCollect(c *call) func() error {
	in := profileInputOf(c)
	seconds := c.flags().Int("seconds", 30, "request `N` seconds of samples from a debug server")
	c.noTerminal("a compressed profile", "-o default.pgo")
	return func() error {
		if *seconds < 1 {
			return usagef("--seconds %d: it takes 1 or more", *seconds)
		}
		got := downloads{patience: stalledAfter}
		defer got.remove()
		names, err := in.sources(&got, *seconds)
		if err != nil {
			return err
		}
		p, err := in.merge(names, ones(len(names)), pgo.ByWeight)
		if err != nil {
			return err
		}
		return c.writeProfile(p)
	}
}

// sources returns the files for collect's arguments.
func (in *profileInput) sources(got *downloads, seconds int) ([]string, error) {
	args := in.args
	var command []string
	if dash := in.cmd.ArgsLenAtDash(); dash >= 0 {
		args, command = args[:dash], args[dash:]
	}
	names, err := sourcesOf(args)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if isAddress(name) {
			if names[i], err = got.fetchProfile(in.context(), in.s, name, seconds); err != nil {
				return nil, err
			}
		}
	}
	if len(command) == 0 {
		return names, nil
	}
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the recording: %w", err)
	}
	got.dirs = append(got.dirs, dir)
	path := filepath.Join(dir, filepath.Base(command[0])+extension)
	clock, err := perf.ParseCounter("task-clock")
	if err != nil {
		return nil, err
	}
	o := outside.Options{Command: command, Path: path, Counters: []perf.Counter{clock}, NoSwitches: true, In: os.Stdin, Out: in.s.err, Err: in.s.err}
	o.Full = func(err error) { fmt.Fprintf(in.s.err, "scopeview: %v: nothing more is recorded\n", err) }
	res, err := outside.Record(in.context(), o)
	if err != nil {
		return nil, err
	}
	if res.Exit != 0 {
		return nil, fmt.Errorf("%s ended with exit code %d%s, so its profile is not representative", show.Name(command[0]), res.Exit, res.Signal)
	}
	return append(names, path), nil
}

func newPgoMerge(c *call) func() error {
	in := profileInputOf(c)
	by := c.choice("by", string(pgo.ByWeight), "count equal amounts of `WHAT` the same", string(pgo.ByWeight), string(pgo.ByDuration), string(pgo.ByShare))
	weights := c.flags().String("weights", "", "multiply the profiles by the weights of `LIST`, in their order: 3,1,0.5")
	c.noTerminal("a compressed profile", "-o default.pgo")
	return func() error {
		names, err := sourcesOf(c.args)
		if err != nil {
			return err
		}
		list, err := parseWeights(*weights, len(names))
		if err != nil {
			return err
		}
		p, err := in.merge(names, list, pgo.By(*by))
		if err != nil {
			return err
		}
		return c.writeProfile(p)
	}
}

// parseWeights parses the weights of n profiles; "" is 1 for each. It scales weights below 1 so
// that the smallest is 1: otherwise values rounded up to one sample would weigh too much.
func parseWeights(text string, n int) ([]float64, error) {
	if text == "" {
		return ones(n), nil
	}
	var list []float64
	for word := range strings.SplitSeq(text, ",") {
		w, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(w > 0 && w <= 1e6) {
			return nil, usagef("--weights: invalid weight %q; write numbers above 0, such as 3,1,0.5", word)
		}
		list = append(list, w)
	}
	if len(list) != n {
		return nil, usagef("--weights has %s for %s", show.Plural(int64(len(list)), "number"), show.Plural(int64(n), "profile"))
	}
	if least := slices.Min(list); least < 1 {
		for i := range list {
			list[i] /= least
		}
	}
	return list, nil
}
