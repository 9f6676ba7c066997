package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report/scale"
	"github.com/scopeview/scopeview/internal/trace"
)

func newScale(c *call) func() error {
	var (
		plain bool
		procs string
		o     scale.Options
	)
	f := c.flags()
	f.StringVarP(&procs, "procs", "p", "", "run with each GOMAXPROCS in `LIST`, such as 1,2,4,8 (default: 1, 2, 4 … up to the number of CPUs)")
	f.IntVarP(&o.Runs, "runs", "n", 3, "run `N` times with each")
	f.BoolVar(&plain, "plain", false, "record nothing: no CPU time by name, and no cost of recording")
	f.BoolVar(&o.Memory, "membench", false, "also measure the machine's memory bandwidth, for scopeview doctor --membench")
	return func() (err error) {
		if o.Procs, err = parseProcs(procs); err != nil {
			return usagef("-p %q: %w", procs, err)
		}
		if o.Runs < 1 || o.Runs > 1000 {
			return usagef("-n %d: it takes a number of runs from 1 to 1000", o.Runs)
		}
		o.Command = c.args
		ctx := c.context()
		if !plain {
			o.Names = func(dir string) (map[string]scale.Name, error) { return namesIn(ctx, dir) }
		}
		step := c.s.steps("run ")
		o.Progress = func(run, of, _ int) { step(run, of) }
		r, err := scale.Of(ctx, o)
		c.s.stepsDone()
		if err != nil {
			return err
		}
		return c.showReport(r)
	}
}

// parseProcs parses a list of different numbers.
func parseProcs(text string) (ps []int, err error) {
	if text == "" {
		for n := 1; n < runtime.NumCPU(); n *= 2 {
			ps = append(ps, n)
		}
		return append(ps, runtime.NumCPU()), nil
	}
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > 1<<16 {
			return nil, fmt.Errorf("invalid number of processors %q; write 1,2,4,8", word)
		}
		if !slices.Contains(ps, n) {
			ps = append(ps, n)
		}
	}
	slices.Sort(ps)
	return ps, nil
}

// namesIn adds up the CPU times of names in the traces of a directory; nil if there are none.
func namesIn(ctx context.Context, dir string) (map[string]scale.Name, error) {
	var names map[string]scale.Name
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != extension {
			return err
		}
		if names == nil {
			names = map[string]scale.Name{}
		}
		return addNames(ctx, path, names)
	})
	return names, err
}

func addNames(ctx context.Context, path string, names map[string]scale.Name) error {
	t, _, err := openTrace(ctx, path)
	if err != nil {
		return err
	}
	defer t.Close()
	var watch analysis.Watch
	err = t.Events(trace.Options{}, func(e *trace.Event) bool {
		if (e.Kind == format.KindTask || e.Kind == format.KindTaskf) && !e.Open {
			text := t.Name(e.Name)
			n := names[text]
			n.Count++
			if e.Quality == format.Exact || e.Quality == format.Likely {
				n.Known++
				n.CPU += e.CPU
			}
			names[text] = n
		}
		return watch.Look(ctx, e.Start) == nil
	})
	return errors.Join(err, ctx.Err())
}
