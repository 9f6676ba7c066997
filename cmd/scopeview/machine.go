package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/membench"
	"github.com/scopeview/scopeview/internal/show"
)

func newMembench(c *call) func() error {
	var o membench.Options
	f := c.flags()
	f.IntVar(&o.Cores, "cores", 0, "measure with up to `N` cores; 0: GOMAXPROCS")
	f.DurationVar(&o.Time, "time", 3*time.Second, "measure for about `DURATION`; shorter is less exact")
	return func() error {
		if o.Time < 10*time.Millisecond || o.Time > time.Hour {
			return usagef("--time %v: it takes 10ms to 1h", o.Time)
		}
		o.Progress = c.s.steps("")
		r, err := membench.Measure(c.context(), o)
		c.s.stepsDone()
		if err != nil {
			return err
		}
		return c.showReport(r.Report())
	}
}

func newCalibrate(c *call) func() error {
	path := c.flags().StringP("output", "o", "", "write the costs to `FILE` (default: one for this machine, in the user's cache directory)")
	only := c.flags().Bool("show", false, "show the costs in use, and measure nothing")
	return func() error {
		d := &calibrationDocument{File: *path, Calibration: advice.Calibration{CPU: advice.CPU(), Go: runtime.Version()}}
		if d.File == "" {
			cache, err := build.OpenCache()
			if err != nil {
				return err
			}
			d.File = calibrationFile(cache)
		}
		if err := c.calibrate(d, *only); err != nil {
			return err
		}
		return c.showReport(&report.Report{Document: d, Text: d.text})
	}
}

// calibrate measures the weights and keeps them or, with only, reads those that are used.
func (c *call) calibrate(d *calibrationDocument, only bool) error {
	if only {
		w, known, err := advice.LoadWeights(d.File)
		if d.Weights = w; !known {
			d.CPU, d.File = "", "" // the built-in weights
		}
		return err
	}
	d.Weights = advice.Calibrate(20*time.Millisecond, func(weight string) {
		if c.s.errTerm {
			fmt.Fprintf(c.s.err, "\rmeasuring %s\x1b[K", weight)
		}
	})
	if c.s.errTerm {
		fmt.Fprint(c.s.err, "\r\x1b[K")
	}
	if err := d.Save(d.File); err != nil {
		return fmt.Errorf("saving the costs: %w; give another file with -o", err)
	}
	return nil
}

// calibrationDocument holds weights and their origin.
type calibrationDocument struct {
	File string `json:"file" says:"where they are; empty: they are built in"`
	advice.Calibration
}

// weight is the cost of an operation.
type weight struct {
	Name  string  `json:"-" head:"operation"`
	NS    float64 `json:"-" head:"ns" unit:"ns"`
	Built float64 `json:"-" head:"built in" unit:"ns"`
}

var weightTable = report.Table{Row: weight{}, Text: "operation, ns, built in"}

func (d *calibrationDocument) text(b *report.Text) {
	if d.File == "" {
		b.WriteString("built in; scopeview calibrate measures this machine\n")
	} else {
		fmt.Fprintf(b, "%s, of %s with %s\n", show.Name(d.File), show.Name(d.CPU), show.Name(d.Go))
	}
	built := advice.BuiltIn()
	weightTable.Write(b, report.RowsOf(slices.Sorted(maps.Keys(d.Weights)), func(name string) weight { return weight{name, d.Weights[name], built[name]} }))
}

func newCheckHooks(c *call) func() error {
	return func() error {
		cache, err := build.OpenCache()
		if err != nil {
			return err
		}
		hooks, version, err := build.CheckHooks(c.context(), cache, "")
		if err != nil {
			return err
		}
		d := hookDocument{Go: version}
		code := exitOK
		for _, h := range hooks {
			d.Hooks = append(d.Hooks, hookState{h.Name, h.What, h.Works, h.Why})
			if !h.Works {
				code = exitFailed
			}
		}
		if err := c.showReport(&report.Report{Text: d.text, Document: &d}); err != nil || code == exitOK {
			return err
		}
		return &exit{code: code}
	}
}

// hookDocument is the document of check-hooks.
type hookDocument struct {
	Go    string      `json:"go" says:"the version of the go command that was tried"`
	Hooks []hookState `json:"hooks"`
}

type hookState struct {
	Name  string `json:"name" head:"hook" says:"the hook"`
	What  string `json:"what" prose:"" says:"the data it records"`
	Works bool   `json:"works" says:"its data was found in a trace"`
	Why   string `json:"why,omitempty" prose:"" says:"why it does not work"`
}

var hookTable = report.Table{
	Row:  hookState{},
	Text: "hook, =works, what, why",
	Cells: report.CellsOf(map[string]func(hookState) string{"works": func(h hookState) string {
		if h.Works {
			return "works"
		}
		return "off"
	}}),
}

func (d *hookDocument) text(b *report.Text) {
	b.WriteString(d.Go + "\n")
	hookTable.Write(b, d.Hooks)
}
