package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/symbols"
)

// annotated is the common part of callers, source and disasm.
type annotated struct {
	*profiling
	binary, hot string
	maps        []string
	commentary  bool
}

// annotatedOf defines the flags that find the program's code.
func annotatedOf(c *call) *annotated {
	x := &annotated{profiling: profilingOf(c).tables()}
	f := c.flags()
	f.StringVar(&x.binary, "binary", "", "read the executable that ran from `FILE`")
	f.StringArrayVar(&x.maps, "path-map", nil, "replace the prefix OLD of source paths by NEW: `OLD=NEW`; may be repeated")
	f.BoolVar(&x.commentary, "commentary", false, "show the compiler's remarks on the lines")
	return x
}

// code returns the program's code. If there are several executables, it is the one with the
// function what.
func (x *annotated) code(what string) (*annotate.Code, error) {
	c := &annotate.Code{Remarks: x.commentary}
	for _, text := range x.maps {
		m, err := symbols.ParseMap(text)
		if err != nil {
			return nil, usagef("--path-map: %w", err)
		}
		c.Sources.Map = append(c.Sources.Map, m)
	}
	if x.hot != "" {
		share, err := strconv.ParseFloat(strings.TrimSuffix(x.hot, "%"), 64)
		if err != nil || share <= 0 || share > 100 {
			return nil, usagef("--hot %s: write a share of the hottest line's value, such as 75%%", x.hot)
		}
		c.Hot = share / 100
	}
	if x.t != nil {
		c.UseStored(x.t)
	}
	c.UseBinary(x.p, x.binary, what)
	return c, nil
}

// annotate shows the report of a view of code.
func (x *annotated) annotate(of func(ctx context.Context, v *profile.View, c *annotate.Code, what string) (*profile.Report, error)) error {
	return x.report(func() (*profile.Report, error) {
		code, err := x.code(x.args[1])
		if err != nil {
			return nil, err
		}
		v, err := x.view()
		if err != nil {
			return nil, err
		}
		return of(x.context(), v, code, x.args[1])
	})
}

func newSource(c *call) func() error {
	x := annotatedOf(c)
	c.flags().StringVar(&x.hot, "hot", "75%", "mark lines with at least this `SHARE` of the hottest line's value")
	return func() error { return x.annotate(annotate.Source) }
}

func newDisasm(c *call) func() error {
	x := annotatedOf(c)
	return func() error { return x.annotate(annotate.Disasm) }
}
