package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/pgo/explain"
	"github.com/scopeview/scopeview/internal/pgo/source"
	reportpgo "github.com/scopeview/scopeview/internal/report/pgo"
	"github.com/scopeview/scopeview/internal/show"
)

// building selects the packages for the go command.
type building struct {
	dir   string
	flags []string
}

func (b *building) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&b.dir, "dir", "C", "", "run the go command in `DIR` (default: here)")
	cmd.Flags().StringArrayVar(&b.flags, "build-flag", nil, "give go build this `FLAG`, such as -tags=x; may be repeated")
}

// everything returns the patterns of packages, by default all.
func everything(patterns []string) []string {
	if len(patterns) == 0 {
		return []string{"./..."}
	}
	return patterns
}

// profileAnd checks that a command got a PROFILE, which packages may follow.
func profileAnd(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a PROFILE, such as default.pgo", cmd.Name())
	}
	return nil
}

// load loads the source with which a profile is compared.
func (b *building) load(cmd *cobra.Command, s *streams, e *pgo.Edges, patterns []string, module bool) (*source.Source, error) {
	names := map[string]bool{}
	for x := range e.Weight {
		names[x.Caller], names[x.Callee] = true, true
	}
	c := source.Config{Dir: b.dir, Patterns: everything(patterns), Flags: b.flags, Module: module}
	for name := range names {
		c.Names = append(c.Names, name)
	}
	if s.errTerm {
		fmt.Fprint(s.err, "\rreading the source ")
		defer s.stepsDone()
	}
	return source.Load(cmd.Context(), c)
}

func newPgoCheck(s *streams) *cobra.Command {
	var (
		l     = &looking{in: profileInput{s: s}}
		b     building
		least string
	)
	cmd := &cobra.Command{
		Use:   "check PROFILE [PACKAGE…]",
		Short: "Tell how much of a profile fits today's source: functions, lines, calls",
		Long: `check holds a profile against the source of the packages (./... if none is named) and of all that they import: the
share of the weight whose caller exists, has a call at that line, and can reach the callee. Go's compiler matches by
just these, and is silent about what does not fit. What it matches with no source, however fresh the profile, does not
count: generic functions whose names lack their types (F[...], before Go 1.21), wrappers, calls that it inserts.

With --fail-below SHARE it ends with exit code 4 where less fits, for CI.

` + profileHelp,
		Example: `  scopeview pgo check default.pgo
  scopeview pgo check default.pgo ./cmd/server --fail-below 80%
  scopeview pgo check default.pgo --json | jq '.lost_functions[:10]'`,
		Args: profileAnd, ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			share, err := parseShare("fail-below", least)
			if err != nil {
				return err
			}
			x, e, err := l.in.edges(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			src, err := b.load(cmd, s, e, args[1:], false)
			if err != nil {
				return err
			}
			r := src.Check(e)
			if err := l.show(cmd, reportpgo.Check(string(x.samples.Unit), r, src.Failures)); err != nil {
				return err
			}
			fits, known := r.Share()
			if !known && share > 0 {
				return &exit{exitFound, errors.New("how much of the profile fits is not known")}
			}
			return below100(100*fits, share, "what fits,")
		},
	}
	l.flags(cmd)
	b.register(cmd)
	cmd.Flags().StringVar(&least, "fail-below", "0%", "end with exit code 4 below this `SHARE`")
	return cmd
}

func newPgoExplain(s *streams) *cobra.Command {
	var (
		l = &looking{in: profileInput{s: s}}
		b building
	)
	cmd := &cobra.Command{
		Use:   "explain PROFILE [PACKAGE…]",
		Short: "Tell what Go's compiler did with each hot call of a profile: inlined, or why not",
		Long: `explain builds the packages (the one here if none is named) with the profile and without, and tells of each hot call
what the compiler did because of the profile: inlined, with its cost; called directly instead of through an interface;
or nothing, and why. The packages of hot calls are compiled anew where the build cache does not have them so.

` + profileHelp,
		Example: `  scopeview pgo explain default.pgo ./cmd/server
  scopeview pgo explain default.pgo --json | jq '.edges[] | select(.verdict == "cannot be inlined")'`,
		Args: profileAnd, ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, e, err := l.in.edges(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			path, done, err := asFile(s, args[0], x.samples)
			if err != nil {
				return err
			}
			defer done()
			if s.errTerm {
				fmt.Fprint(s.err, "\rbuilding ")
			}
			o := explain.Options{Dir: b.dir, Profile: path, Packages: args[1:], Flags: b.flags}
			if len(o.Packages) == 0 {
				o.Packages = []string{"."}
			}
			load := sync.OnceValues(func() (*source.Source, error) { return b.load(cmd, s, e, o.Packages, false) })
			o.Why = func(x pgo.Edge) (explain.Verdict, string, error) {
				src, err := load()
				if err != nil {
					return "", "", err
				}
				verdict, text := became(src.Reason(x))
				return verdict, text, nil
			}
			r, err := explain.Of(cmd.Context(), o, e)
			s.stepsDone()
			if err != nil {
				return err
			}
			return l.show(cmd, reportpgo.Explain(r))
		},
	}
	l.flags(cmd)
	b.register(cmd)
	return cmd
}

// became returns the verdict on a call that the compiler does not report, according to the source.
func became(r source.Reason) (explain.Verdict, string) {
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

// asFile returns the path of a file for go build -pgo: the profile itself, or a temporary
// conversion, which done removes.
func asFile(s *streams, arg string, p *pgo.Profile) (path string, done func(), err error) {
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
	if err := writeProfile(s, &output{path}, p); err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return path, func() { os.RemoveAll(dir) }, nil
}

func newPgoRename(s *streams) *cobra.Command {
	var (
		in  = profileInput{s: s}
		out output
	)
	cmd := &cobra.Command{
		Use:   "rename PROFILE OLD=NEW…",
		Short: "Give functions or packages of a profile their new names",
		Long: `rename changes names in a profile, as the linker has them, of callers and callees: of a function
(main.(*T).Read=main.(*T).Fetch) with its closures, or of a package (example.com/old=example.com/new) with those below it.
It says how many names it changed, and fails where a pair changes none. Line numbers stay; salvage finds the new ones.`,
		Example: `  scopeview pgo rename default.pgo example.com/a/store=example.com/a/internal/store -o new.pgo
  scopeview pgo rename default.pgo 'main.(*server).serve=main.(*Server).Serve' -o new.pgo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("rename needs a PROFILE and OLD=NEW, such as main.work=main.Work")
			}
			return nil
		},
		ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			var pairs []source.Pair
			for _, text := range args[1:] {
				old, now, ok := strings.Cut(text, "=")
				if !ok || old == "" || now == "" {
					return usagef("%s: write OLD=NEW, such as main.work=main.Work", text)
				}
				pairs = append(pairs, source.Pair{Old: old, New: now})
			}
			x, err := in.read(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			p, counts, err := source.Rename(x.samples, pairs)
			if err != nil {
				return fmt.Errorf("%s: %w", show.Name(args[0]), err)
			}
			for i, n := range counts {
				fmt.Fprintf(s.err, "scopeview: %s: %s\n", show.Name(args[1+i]), show.Plural(int64(n), "name"))
			}
			return writeProfile(s, &out, p)
		},
	}
	out.flag(cmd)
	in.flags(cmd)
	return cmd
}
