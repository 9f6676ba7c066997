package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
)

// profiling is the common part of the commands that show samples.
type profiling struct {
	*call
	name             string      // of a TRACE that is not a recording
	kind             *sourceKind // of it
	metrics, sort    string
	function, format string
	scope, slowest   string
	goroutines       []uint
	threads, cpus    []uint
	states           []string
	imputed, inline  bool
	functions        glob.Filter
	p                *samples.Profile
	each             func(*samples.Sample)
	split            samples.Split
}

// profilingOf defines the flags that select samples.
func profilingOf(c *call) *profiling {
	x := &profiling{call: c}
	f := c.flags()
	f.StringVar(&x.scope, "scope", "", "only samples and waits in scopes whose names match `GLOBS`, callees included")
	f.UintSliceVar(&x.goroutines, "goroutine", nil, "only the goroutines with these `NUMBERS`")
	f.UintSliceVar(&x.threads, "thread", nil, "only the threads with these `NUMBERS` of the system")
	f.UintSliceVar(&x.cpus, "cpu", nil, "only samples taken on the CPUs with these `NUMBERS`, which scopeview record records")
	f.StringSliceVar(&x.states, "state", nil, "only these `STATES` of goroutines: cpu, lock, network and others of scopeview states")
	f.BoolVar(&x.inline, "inline", true, "show inlined functions as functions; =false: count them for the functions that contain them")
	f.BoolVar(&x.imputed, "imputed", true, "count the work of a goroutine also for the go statement that started it")
	c.completeValues("state", states.Names[:])
	return x
}

// tables adds the flags of tables of metrics.
func (x *profiling) tables() *profiling {
	f := x.flags()
	f.StringVarP(&x.metrics, "metrics", "m", "", "show the metrics in `LIST`: e.NAME exclusive, i.NAME inclusive, with % as a share (default: the first, and off-CPU time)")
	f.StringVar(&x.sort, "sort", "", "sort by the metric `e.NAME` or i.NAME (default: the first one shown)")
	format := x.choice("format", "text", "write `FORMAT`", "text", "csv")
	x.checks = append(x.checks, func() error {
		if x.format = *format; x.asJSON && x.format != "text" {
			return usagef("--json and --format %s exclude each other", x.format)
		}
		return nil
	})
	return x
}

// read opens the file that TRACE names, and reads its samples. The caller must call close.
func (x *profiling) read(arg string) error {
	if err := x.readAll(arg); err != nil {
		return err
	}
	if x.inline {
		return nil
	}
	if !x.p.Inlined {
		c := annotate.Code{}
		if x.t != nil {
			c.UseStored(x.t)
		}
		c.UseBinary(x.p, "", "")
		if err := c.FindInlined(x.p); err != nil {
			x.close()
			return err
		}
	}
	x.p.FoldInlined()
	return nil
}

func (x *profiling) readAll(arg string) (err error) {
	if x.functions, err = glob.Parse(x.function); err != nil {
		return usagef("--function: %w", err)
	}
	sel, err := x.selection()
	if err != nil {
		return err
	}
	in, kind, err := sniff(arg)
	if err != nil {
		return err
	}
	if in != nil {
		defer in.Close()
		x.name = x.s.nameOf(arg)
		x.kind = kind
		x.p, err = x.readPlain(arg, in, kind, sel)
		return err
	}
	if err := x.open(arg); err != nil {
		return err
	}
	sel.Selection = x.part()
	if x.p, err = samples.OfTrace(x.context(), x.t, sel); err != nil {
		err = x.failed(fmt.Errorf("%s: %w", show.Name(x.path), err))
		x.close()
		if errors.Is(err, samples.ErrNone) && x.t.Lookup("gotrace") != "" {
			return noGoTrace(x.t, x.path)
		}
		return err
	}
	return nil
}

// close releases the files and ends the progress.
func (x *profiling) close() {
	if x.progress != nil {
		x.progress.done()
	}
	if x.t != nil {
		x.t.Close()
	}
}

// selection returns the selection in the flags.
func (x *profiling) selection() (*samples.Selection, error) {
	sel := &samples.Selection{Imputed: x.imputed, Split: x.split, Each: x.each}
	for _, g := range x.goroutines {
		sel.Goroutines = append(sel.Goroutines, uint64(g))
	}
	for _, t := range x.threads {
		sel.Threads = append(sel.Threads, uint32(min(t, math.MaxUint32)))
	}
	for _, c := range x.cpus {
		sel.CPUs = append(sel.CPUs, uint32(min(c, math.MaxUint32)))
	}
	for _, name := range x.states {
		i := slices.Index(states.Names[:], name)
		if i < 0 {
			return nil, usagef("--state %s: there is %s", name, strings.Join(states.Names[:], ", "))
		}
		sel.States = append(sel.States, states.State(i))
	}
	if x.scope != "" {
		f, err := glob.Parse(x.scope)
		if err != nil {
			return nil, usagef("--scope: %w", err)
		}
		sel.Scopes = &f
	}
	if x.slowest != "" {
		number, percent := strings.CutSuffix(x.slowest, "%")
		share, err := strconv.ParseFloat(number, 64)
		if err != nil || !percent || share <= 0 || share >= 100 {
			return nil, usagef("--slowest %s: write a share of the executions, such as 1%%", x.slowest)
		}
		if x.scope == "" {
			return nil, usagef("--slowest %s needs a scope: name it with --scope", x.slowest)
		}
		sel.Slowest = share / 100
	}
	return sel, nil
}

// view returns the view in the flags.
func (x *profiling) view() (*profile.View, error) {
	v, err := profile.NewView(x.p, x.t, x.metrics, x.sort, x.functions)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return v, nil
}

// show writes a report, if err is nil.
func (x *profiling) show(r *profile.Report, err error) error {
	if err != nil {
		_ = x.verdict() // damage may be the cause
		return err
	}
	switch {
	case x.format == "csv":
		err = x.out.write(x.s, func(w io.Writer) error { return r.CSV(x.out.exact(x.s, w)) })
	default:
		err = x.showReport(&r.Report)
	}
	if err != nil {
		return err
	}
	return x.verdict()
}

// verdict returns the exit code for damage and losses of any kind of TRACE.
func (x *profiling) verdict() error {
	if x.t != nil {
		return x.call.verdict()
	}
	return x.strict.ofPlain(x.s, x.name, x.p)
}

// writeForeign writes a format of other tools with f.
func (x *profiling) writeForeign(f func(w io.Writer) error) error {
	if x.t != nil {
		return x.call.writeForeign(f)
	}
	if err := x.out.write(x.s, f); err != nil {
		return err
	}
	return x.verdict()
}

// report reads the samples and shows the report of f.
func (x *profiling) report(f func() (*profile.Report, error)) error {
	if err := x.read(x.args[0]); err != nil {
		return err
	}
	defer x.close()
	r, err := f()
	return x.show(r, err)
}
