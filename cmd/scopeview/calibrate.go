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
	"github.com/scopeview/scopeview/internal/show"
)

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

var weightTable = report.Table[weight]{Text: "operation, ns, built in"}

func (d *calibrationDocument) text(b *report.Text) {
	if d.File == "" {
		b.WriteString("built in; scopeview calibrate measures this machine\n")
	} else {
		fmt.Fprintf(b, "%s, of %s with %s\n", show.Name(d.File), show.Name(d.CPU), show.Name(d.Go))
	}
	built := advice.BuiltIn()
	weightTable.Write(b, report.RowsOf(slices.Sorted(maps.Keys(d.Weights)), func(name string) weight { return weight{name, d.Weights[name], built[name]} }))
}
