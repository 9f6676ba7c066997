package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/advice/verify"
	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// adviseOptions are the flags of reports on raw files.
type adviseOptions struct {
	count      int
	off        []string
	set        []string
	conf       string
	weights    string
	in         []string
	std        bool
	stacks     bool
	statistics bool
	counted    map[string]string // parameters passed to the program: set by params
}

func (o *adviseOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.count, "count", 10, "show at most `N` pieces of advice, and as many characteristics; 0: all")
	f.StringSliceVar(&o.off, "off", nil, "leave out these `DIAGNOSTICS` or groups, by their names or those of the original")
	f.StringSliceVar(&o.in, "in", nil, "only advice for places in these `PACKAGES`; /... includes the packages below")
	f.BoolVar(&o.std, "std", false, "include uses of the standard library within itself")
	f.BoolVar(&o.statistics, "statistics", false, "show the operations and costs of all places, not only of the worst without a remedy")
	f.BoolVar(&o.stacks, "per-stack", false, "give advice per call stack, not per place in the code")
	f.StringVar(&o.conf, "conf", "", "read parameters from `FILE`, in the form of a .conf.out file")
	o.parameters(cmd, "set")
	f.StringVar(&o.weights, "weights", "", "read the costs of operations from `FILE` (default: those of scopeview calibrate on this machine, or built-in ones)")
}

// parameters adds the flag that sets parameters of advice.
func (o *adviseOptions) parameters(cmd *cobra.Command, name string) {
	cmd.Flags().StringArrayVar(&o.set, name, nil, "set a parameter of advice: `NAME=VALUE`, as in a .conf.out file; may be repeated")
}

// variable is the prefix of the environment variables of the parameters.
const variable = "SCOPEVIEW_ADVISE_"

// params returns the parameters of a report. Those of the flags override those of the environment,
// which override those of the file of parameters, which override the built-in ones.
func (o *adviseOptions) params(cmd *cobra.Command, conf string) (p advice.Params, err error) {
	p, o.counted = advice.DefaultParams(), map[string]string{}
	if p.Weights, err = o.loadWeights(); err != nil {
		return p, err
	}
	if err := o.fromFile(&p, conf); err != nil {
		return p, err
	}
	if err := o.fromEnvironment(&p); err != nil {
		return p, err
	}
	if f := cmd.Flags().Lookup("count"); f != nil && f.Changed {
		p.Count = o.count
	}
	if err := o.fromFlags(&p); err != nil {
		return p, err
	}
	p.Std, p.PerStack, p.Statistics = o.std, o.stacks, o.statistics
	if len(o.in) > 0 {
		p.In = inPackages(o.in)
	}
	return p, nil
}

// fromFile sets the parameters from a file: o.conf, which must exist, or else conf, which need not.
func (o *adviseOptions) fromFile(p *advice.Params, conf string) error {
	path := cmp.Or(o.conf, conf)
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil && (o.conf != "" || !errors.Is(err, os.ErrNotExist)) {
		return err
	}
	if o.counted, err = p.SetAll(string(text)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// fromEnvironment sets the parameters from the environment. Diagnostics switched off there are
// added to those switched off by flags.
func (o *adviseOptions) fromEnvironment(p *advice.Params) error {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		name, ours := strings.CutPrefix(name, variable)
		switch name = strings.ToLower(name); {
		case !ours || value == "":
		case name == "off":
			o.off = append(strings.Split(value, ","), o.off...)
		case slices.Contains([]string{"count", "least_ns", "least_share", "least_bytes"}, name):
			if err := p.Set(name, value); err != nil {
				return usagef("%s%s: %w", variable, strings.ToUpper(name), err)
			}
		}
	}
	return nil
}

// fromFlags sets the parameters from --set and --off.
func (o *adviseOptions) fromFlags(p *advice.Params) error {
	set := slices.Clone(o.set)
	for _, name := range o.off {
		set = append(set, "off."+name+"=1")
	}
	for _, s := range set {
		name, value, _ := strings.Cut(s, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if err := p.Set(name, value); err != nil {
			return usagef("--set %s: %w", s, err)
		}
		if slices.Contains(advice.Counted, name) {
			o.counted[name] = value
		}
	}
	return nil
}

func (o *adviseOptions) loadWeights() (advice.Weights, error) {
	path := o.weights
	if path == "" {
		cache, err := build.OpenCache()
		if err != nil {
			return advice.BuiltIn(), nil // without a cache nothing has been measured
		}
		path = calibrationFile(cache)
	}
	w, known, err := advice.LoadWeights(path)
	if err == nil && !known && o.weights != "" {
		err = fmt.Errorf("%s: no such file; scopeview calibrate -o writes one", path)
	}
	return w, err
}

// inPackages returns a function that reports whether a function is in one of the packages, given as
// the go command names them.
func inPackages(patterns []string) func(function string) bool {
	return func(function string) bool {
		slash := strings.LastIndexByte(function, '/') + 1
		pkg, _, _ := strings.Cut(function[slash:], ".")
		pkg = function[:slash] + pkg
		return slices.ContainsFunc(patterns, func(p string) bool {
			if p, below := strings.CutSuffix(p, "/..."); below {
				return pkg == p || strings.HasPrefix(pkg, p+"/")
			}
			return pkg == p || p == "..."
		})
	}
}

// advising is a call of advise.
type advising struct {
	*call
	adviseOptions
	sarif, list bool
	tries       int
	diff        []string
	dir         string // the current one; "": paths are absolute
}

func newAdvise(c *call) func() error {
	a := &advising{call: c}
	f := c.flags()
	a.adviseOptions.flags(c.cmd)
	f.BoolVar(&a.sarif, "sarif", false, "write a SARIF log, for code review tools")
	f.BoolVar(&a.list, "list", false, "list the diagnostics, and nothing else")
	f.IntVar(&a.tries, "verify", 0, "apply the advice that can be applied automatically, run the program and each changed build `RUNS` times alternately, and show the gain")
	f.StringSliceVar(&a.diff, "diff", nil, "show what became worse or better since the runs of these raw `FILES`")
	return func() error {
		if a.list {
			return c.out.write(c.s, listDiagnostics)
		}
		raws, program := c.args, []string(nil)
		if n := c.cmd.ArgsLenAtDash(); n >= 0 {
			raws, program = c.args[:n], c.args[n:]
		}
		switch {
		case (len(program) > 0) != (a.tries > 0):
			return usagef("--verify RUNS needs -- and a package with its arguments; without --verify nothing may follow --")
		case len(raws) == 0:
			return usagef("give a raw file; scopeview run --advise prints its path")
		}
		return a.advise(raws, program)
	}
}

// advise shows the advice of raw files.
func (a *advising) advise(raws, program []string) error {
	p, err := a.params(a.cmd, strings.TrimSuffix(raws[0], ".raw")+".conf")
	if err != nil {
		return err
	}
	d, err := advice.Load(raws...)
	if err != nil {
		return err
	}
	a.dir, _ = os.Getwd() // without it paths are absolute
	if len(a.diff) > 0 {
		return a.changes(d, p)
	}
	r := advice.Of(d, p)
	switch {
	case a.tries > 0:
		err = a.verify(verify.Options{Package: program[0], Args: program[1:], Report: r, Runs: a.tries})
	case a.sarif:
		err = a.out.write(a.s, func(w io.Writer) error { return r.WriteSARIF(w, a.dir, version()) })
	default:
		err = a.showReport(&report.Report{Document: &adviseDocument{Report: *r}, Text: func(b *report.Text) { _ = r.WriteText(b, a.dir) }})
	}
	return a.strict.ofAdvice(a.s, err, r)
}

// ofAdvice is verdict for reports on raw files, whose output returned err. Damage takes precedence
// over advice that became worse, which may be due to missing data.
func (x strictness) ofAdvice(s *streams, err error, reports ...*advice.Report) error {
	damaged, lost := false, false
	for _, r := range reports {
		for _, text := range r.Damage {
			fmt.Fprintf(s.err, "scopeview: %s\n", show.Text(text))
		}
		damaged, lost = damaged || len(r.Damage) > 0, lost || len(r.Lost) > 0
	}
	switch found := (*exit)(nil); {
	case err != nil && !errors.As(err, &found):
		return err
	case damaged:
		return &exit{code: exitFailed}
	case err == nil && bool(x) && lost:
		return &exit{code: exitLosses}
	}
	return err
}

// changes shows what became worse or better since the runs of --diff.
func (a *advising) changes(d *advice.Data, p advice.Params) error {
	p.Count = 0
	base, err := advice.Load(a.diff...)
	if err != nil {
		return err
	}
	if base.Program != d.Program {
		return fmt.Errorf("%w, %s and %s, can't be compared", advice.ErrPrograms, base.Program, d.Program)
	}
	before, r := advice.Of(base, p), advice.Of(d, p)
	r.Changes = advice.Diff(before, r)
	err = a.showReport(&report.Report{Document: &adviseDocument{Report: *r}, Text: func(b *report.Text) { _ = advice.WriteDiff(b, r.Changes, a.dir) }})
	if err == nil && slices.ContainsFunc(r.Changes, func(c advice.Change) bool { return c.What == advice.Worse }) {
		err = &exit{code: exitFound}
	}
	return a.strict.ofAdvice(a.s, err, before, r)
}

// verify measures the gain of following the advice.
func (a *advising) verify(o verify.Options) error {
	step := a.s.steps("run ")
	o.Progress = func(run, of int) { step(run, of) }
	r, err := verify.Run(a.context(), o)
	a.s.stepsDone()
	if err != nil {
		return err
	}
	return a.showReport(&report.Report{Document: &adviseDocument{*o.Report, r}, Text: func(b *report.Text) { _ = r.WriteText(b, o.Report, a.dir) }})
}

// adviseDocument is the document of advise.
type adviseDocument struct {
	advice.Report
	Verified *verify.Result `json:"verified,omitempty" says:"with '--verify'"`
}

var diagnostics = report.Table{Row: advice.Rule{}, Text: "diagnostic, group, the original's"}

// listDiagnostics lists the diagnostics.
func listDiagnostics(w io.Writer) error {
	var b report.Text
	diagnostics.Write(&b, advice.Rules)
	_, err := b.WriteTo(w)
	return err
}

// calibrationFile returns the file with the weights of this machine.
func calibrationFile(c build.Cache) string { return advice.CalibrationFile(c.Dir(), advice.CPU()) }

// profileFiles writes the counts of a run, PATH.raw, the advice, PATH.txt, and the parameters,
// PATH.conf.out.
func profileFiles(path string, raws []string, p advice.Params, dir string) (*advice.Report, error) {
	var all []byte
	for _, raw := range raws {
		b, err := os.ReadFile(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
	d, err := advice.Load(raws...)
	if err != nil {
		return nil, err
	}
	r := advice.Of(d, p)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	var text strings.Builder
	if err := r.WriteText(&text, dir); err != nil {
		return nil, err
	}
	for ending, b := range map[string][]byte{".raw": all, ".txt": []byte(text.String()), ".conf.out": []byte(p.Conf(d))} {
		out := output{path: path + ending}
		if err := out.write(&streams{}, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
			return nil, err
		}
	}
	return r, nil
}
