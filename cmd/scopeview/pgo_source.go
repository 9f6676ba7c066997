package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/pgo/explain"
	"github.com/scopeview/scopeview/internal/pgo/source"
	reportpgo "github.com/scopeview/scopeview/internal/report/pgo"
	"github.com/scopeview/scopeview/internal/show"
)

// building selects the packages for the go command.
type building struct {
	*call
	dir   string
	flags []string
}

// buildingOf defines the flags of the go command.
func buildingOf(c *call) *building {
	b := &building{call: c}
	c.flags().StringVarP(&b.dir, "dir", "C", "", "run the go command in `DIR` (default: here)")
	c.flags().StringArrayVar(&b.flags, "build-flag", nil, "pass `FLAG` to go build, such as -tags=x; may be repeated")
	return b
}

// orAll returns the patterns of packages, by default all.
func orAll(patterns []string) []string {
	if len(patterns) == 0 {
		return []string{"./..."}
	}
	return patterns
}

// load loads the source with which a profile is compared.
func (b *building) load(e *pgo.Edges, patterns []string, module bool) (*source.Source, error) {
	names := map[string]bool{}
	for x := range e.Weight {
		names[x.Caller], names[x.Callee] = true, true
	}
	c := source.Config{Dir: b.dir, Patterns: orAll(patterns), Flags: b.flags, Module: module}
	for name := range names {
		c.Names = append(c.Names, name)
	}
	if b.s.errTerm {
		fmt.Fprint(b.s.err, "\rreading the source ")
		defer b.s.stepsDone()
	}
	return source.Load(b.context(), c)
}

func newPgoCheck(c *call) func() error {
	in, b := profileInputOf(c), buildingOf(c)
	least := c.flags().String("fail-below", "0%", "exit with code 4 below this `SHARE`")
	return func() error {
		share, err := parseShare("fail-below", *least)
		if err != nil {
			return err
		}
		x, e, err := in.edges(c.context(), c.args[0])
		if err != nil {
			return err
		}
		src, err := b.load(e, c.args[1:], false)
		if err != nil {
			return err
		}
		r := src.Check(e)
		if err := c.showReport(reportpgo.Check(string(x.samples.Unit), r, src.Failures)); err != nil {
			return err
		}
		fits, known := r.Share()
		if !known && share > 0 {
			return &exit{exitFound, errors.New("how much of the profile fits is not known")}
		}
		return checkShare(100*fits, share, "what fits,")
	}
}

func newPgoExplain(c *call) func() error {
	in, b := profileInputOf(c), buildingOf(c)
	return func() error {
		x, e, err := in.edges(c.context(), c.args[0])
		if err != nil {
			return err
		}
		path, done, err := pprofFile(c.args[0], x.samples)
		if err != nil {
			return err
		}
		defer done()
		if c.s.errTerm {
			fmt.Fprint(c.s.err, "\rbuilding ")
		}
		o := explain.Options{Dir: b.dir, Profile: path, Packages: c.args[1:], Flags: b.flags}
		if len(o.Packages) == 0 {
			o.Packages = []string{"."}
		}
		load := sync.OnceValues(func() (*source.Source, error) { return b.load(e, o.Packages, false) })
		o.Why = func(x pgo.Edge) (explain.Verdict, string, error) {
			src, err := load()
			if err != nil {
				return "", "", err
			}
			verdict, text := sourceVerdict(src.Reason(x))
			return verdict, text, nil
		}
		r, err := explain.Of(c.context(), o, e)
		c.s.stepsDone()
		if err != nil {
			return err
		}
		return c.showReport(reportpgo.Explain(r))
	}
}

// sourceVerdict returns the verdict on a call that the compiler does not report, according to the source.
func sourceVerdict(r source.Reason) (explain.Verdict, string) {
	verdict := explain.NotMatched
	switch {
	case r.Lost():
		verdict = explain.Gone
	case r.Found():
		return explain.Unknown, string(explain.Unknown) + "; the source has " + r.String()
	case r == source.NotLoaded:
		verdict = explain.Unknown
	case r == source.NotInBuild:
		verdict = explain.NotBuilt
	case r == source.Inserted:
		verdict = explain.Generated
	case r == source.Deferred:
		verdict = explain.GoOrDefer
	case r == source.ShortGeneric:
		verdict = explain.Generic
	}
	return verdict, r.String()
}

// pprofFile returns the path of a file for go build -pgo: the profile itself, or a temporary
// conversion, which done removes.
func pprofFile(arg string, p *pgo.Profile) (path string, done func(), err error) {
	if f, kind, err := sniff(arg); err == nil && f != nil {
		f.Close()
		if kind == kindPprof {
			path, err := filepath.Abs(arg)
			return path, func() {}, err
		}
	}
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return "", nil, fmt.Errorf("making a directory for the profile: %w", err)
	}
	path = filepath.Join(dir, "default.pgo")
	if err := writeProfileTo(path, p); err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return path, func() { os.RemoveAll(dir) }, nil
}

func newPgoRename(c *call) func() error {
	in := profileInputOf(c)
	c.noTerminal("a compressed profile", "-o default.pgo")
	return func() error {
		var pairs []source.Pair
		for _, text := range c.args[1:] {
			old, now, ok := strings.Cut(text, "=")
			if !ok || old == "" || now == "" {
				return usagef("%s: write OLD=NEW, such as main.work=main.Work", text)
			}
			pairs = append(pairs, source.Pair{Old: old, New: now})
		}
		x, err := in.read(c.context(), c.args[0])
		if err != nil {
			return err
		}
		p, counts, err := source.Rename(x.samples, pairs)
		if err != nil {
			return fmt.Errorf("%s: %w", show.Name(c.args[0]), err)
		}
		for i, n := range counts {
			fmt.Fprintf(c.s.err, "scopeview: %s: %s\n", show.Name(c.args[1+i]), show.Plural(int64(n), "name"))
		}
		return c.writeProfile(p)
	}
}
