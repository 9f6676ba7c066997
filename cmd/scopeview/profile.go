package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// lacks reports whether a kind has nothing that a flag is about.
func lacks(kind *profile.Kind, flag string) bool {
	switch flag {
	case "function":
		return kind != profile.Functions && kind != profile.Lines
	case "slowest":
		return kind != profile.Functions
	case "least":
		return kind != profile.Tree
	case "sort":
		return kind == profile.Samples || kind == profile.Metrics
	}
	return flag == "metrics" && kind == profile.Metrics
}

func newProfile(c *call) func() error {
	x := profilingOf(c).tables()
	var names []string
	for _, k := range profile.Kinds {
		names = append(names, k.By)
	}
	name := c.choice("by", profile.Functions.By, "add up by `KIND`", names...)
	c.flags().StringVar(&x.function, "function", "", "of functions and lines: only functions whose names match `GLOBS`")
	c.flags().StringVar(&x.slowest, "slowest", "", "of functions: compare the slowest `SHARE` of the executions of --scope with the others, such as 1%")
	least := c.flags().String("least", "1%", "of the tree: leave out functions with less than `SHARE` of the total")
	share := 0.0
	var kind *profile.Kind
	c.checks = append(c.checks, func() (err error) {
		i := slices.Index(names, *name) // the choice was checked
		kind = profile.Kinds[i]
		c.documentName, x.split = "profile."+kind.By, kind.Split
		c.flags().Visit(func(f *pflag.Flag) {
			if lacks(kind, f.Name) {
				err = usagef("--%s does not go with --by %s", f.Name, kind.By)
			}
		})
		if err != nil {
			return err
		}
		share, err = strconv.ParseFloat(strings.TrimSuffix(*least, "%"), 64)
		if err != nil || share < 0 || share > 100 {
			return usagef("--least %s: write a share of the total, such as 1%%", *least)
		}
		return nil
	})
	return func() error {
		var list []profile.Sample
		if kind == profile.Samples {
			x.each = func(one *samples.Sample) { list = append(list, profile.SampleOf(one)) }
		}
		return x.report(func() (*profile.Report, error) {
			if kind == profile.Samples && x.t == nil && x.kind == kindPprof {
				return nil, fmt.Errorf("%s is a profile, which has only sums: add them up by function", show.Name(c.args[0]))
			}
			v, err := x.view()
			if err != nil {
				return nil, err
			}
			if kind == profile.Tree && x.sort == "" && len(v.Columns) > 0 {
				v.Sort.Metric = v.Columns[0].Metric
			}
			v.List, v.Least = list, share/100
			return kind.Of(v), nil
		})
	}
}

func newCallers(c *call) func() error {
	x := annotatedOf(c)
	return func() error {
		return x.report(func() (*profile.Report, error) {
			v, err := x.view()
			if err != nil {
				return nil, err
			}
			if !x.commentary {
				return profile.Callers(v, c.args[1], nil)
			}
			code, err := x.code(c.args[1])
			if err != nil {
				return nil, err
			}
			return annotate.Callers(c.context(), v, code, c.args[1])
		})
	}
}
