package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

func newCalibrate(s *streams) *cobra.Command {
	var (
		path   string
		show   bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use: "calibrate", Short: "Measure what small operations take on this machine, for advise",
		Long: `calibrate measures what the operations take that advise has its estimates from: copying a byte, an allocation, a look-up
in a map. It takes some seconds, in which the machine should do nothing else. The result is kept for this model of
processor, and is used from then on; the file may be edited.`,
		Example: `  scopeview calibrate
  scopeview calibrate --show
  scopeview calibrate -o weights.json && scopeview advise --weights weights.json scope-profile.raw`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if path == "" {
				cache, err := build.OpenCache()
				if err != nil {
					return err
				}
				path = calibrationFile(cache)
			}
			c := &advice.Calibration{CPU: advice.CPU(), Go: runtime.Version()}
			if show {
				w, known, err := advice.LoadWeights(path)
				if err != nil {
					return err
				}
				if c.Weights = w; !known {
					c.CPU, path = "", "" // the built-in weights
				}
			} else {
				c.Weights = advice.Calibrate(20*time.Millisecond, func(weight string) {
					if s.errTerm {
						fmt.Fprintf(s.err, "\rmeasuring %s\x1b[K", weight)
					}
				})
				if s.errTerm {
					fmt.Fprint(s.err, "\r\x1b[K")
				}
				if err := c.Save(path); err != nil {
					return fmt.Errorf("the weights can't be kept: %w; -o names another file", err)
				}
			}
			d := &calibrationDocument{File: path, Calibration: *c}
			out := output{}
			return out.show(s, cmd, &report.Report{Document: d, Text: d.text}, asJSON, 0)
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "keep the weights in `FILE` (default: for this machine, in the user's cache directory)")
	cmd.Flags().BoolVar(&show, "show", false, "measure nothing: show the weights that are used")
	jsonFlag(cmd, &asJSON)
	return cmd
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
