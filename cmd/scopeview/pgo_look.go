package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/report"
	reportpgo "github.com/scopeview/scopeview/internal/report/pgo"
	"github.com/scopeview/scopeview/internal/show"
)

// looking is the common part of the commands that report about profiles.
type looking struct {
	in     profileInput
	out    output
	asJSON bool
	lines  int
}

func (l *looking) flags(cmd *cobra.Command) {
	l.in.flags(cmd)
	l.tableFlags(cmd)
}

func (l *looking) tableFlags(cmd *cobra.Command) {
	l.out.flag(cmd)
	jsonFlag(cmd, &l.asJSON)
	linesFlag(cmd, &l.lines)
}

// show writes a report.
func (l *looking) show(cmd *cobra.Command, r *report.Report) error {
	limit, err := rowLimit(cmd, l.lines, l.asJSON)
	if err != nil {
		return err
	}
	return l.out.show(l.in.s, cmd, r, l.asJSON, limit)
}

// parseShare parses a share in percent.
func parseShare(flag, text string) (float64, error) {
	share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(share >= 0 && share <= 100) {
		return 0, usagef("--%s %s: write a share, such as 99%%", flag, text)
	}
	return share, nil
}

func newPgoShow(s *streams) *cobra.Command {
	l := &looking{in: profileInput{s: s}}
	hot := ""
	cmd := &cobra.Command{
		Use:   "show PROFILE",
		Short: "Show the calls and functions of a profile as Go's compiler sees them, with what it takes for hot",
		Long: `show lists the calls that Go's compiler reads in a profile: caller, how many lines behind its first line, what is
called, and the weight. The heaviest are hot, until they have 99 % of all weight. The compiler inlines what a hot call
calls up to a cost of 2000 instead of 80, and calls the hottest function of an interface or a variable directly.

` + profileHelp,
		Example: `  scopeview pgo show default.pgo
  scopeview pgo show cpu.pprof -n 0 --json | jq '.edges[] | select(.hot)'`,
		Args: profileArgs(1, 1), ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			share, err := parseShare("hot", hot)
			if err != nil {
				return err
			}
			x, e, err := l.in.edges(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return l.show(cmd, reportpgo.Show(x.samples, e, share))
		},
	}
	l.flags(cmd)
	cmd.Flags().StringVar(&hot, "hot", fmt.Sprint(pgo.HotShare, "%"), "the hot calls have this `SHARE` of the weight, as with the compiler's -d=pgoinlinecdfthreshold")
	return cmd
}

func newPgoOverlap(s *streams) *cobra.Command {
	l := &looking{in: profileInput{s: s}}
	least := ""
	cmd := &cobra.Command{
		Use:   "overlap PROFILE PROFILE",
		Short: "Tell how alike two profiles are, by the weight of their calls",
		Long: `overlap adds up, over all calls, the smaller of the two shares of weight that a call has, as llvm-profdata overlap
does: 100 % is the same, 0 % has nothing in common. Below are the calls that differ most.

With --fail-below SHARE it ends with exit code 4 where the profiles are less alike.

` + profileHelp,
		Example: `  scopeview pgo overlap default.pgo today.pprof
  scopeview pgo overlap default.pgo today.pprof --fail-below 60%`,
		Args: profileArgs(2, 2), ValidArgsFunction: completeAll,
		RunE: func(cmd *cobra.Command, args []string) error {
			share, err := parseShare("fail-below", least)
			if err != nil {
				return err
			}
			_, a, err := l.in.edges(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			_, b, err := l.in.edges(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			if err := l.show(cmd, reportpgo.Overlap(args[0], args[1], a, b)); err != nil {
				return err
			}
			return below100(100*pgo.Overlap(a, b), share, "overlap")
		},
	}
	l.flags(cmd)
	cmd.Flags().StringVar(&least, "fail-below", "0%", "end with exit code 4 below this `SHARE`")
	return cmd
}

// below100 returns exitFound if a share is below least.
func below100(share, least float64, what string) error {
	if share >= least {
		return nil
	}
	return &exit{exitFound, fmt.Errorf("%s %.2f%% is below %g%%", what, share, least)}
}

func newPgoShrink(s *streams) *cobra.Command {
	var (
		in    = profileInput{s: s}
		out   output
		build string
	)
	cmd := &cobra.Command{
		Use:   "shrink PROFILE",
		Short: "Leave in a profile only what Go's compiler reads, and prove that nothing is lost",
		Long: `shrink writes a profile that has only the calls which the compiler reads. It has go tool preprofile read both, and
refuses to write the small one if that tells them apart. It says on standard error how large both are, and how long
preprofile takes. With --build PACKAGE it builds that with each profile, everything anew, and says how long that takes.

` + profileHelp,
		Example: `  scopeview pgo shrink cpu.pprof -o default.pgo
  scopeview pgo shrink cpu.pprof -o default.pgo --build ./cmd/server`,
		Args: profileArgs(1, 1), ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, e, err := in.edges(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			small := pgo.Shrink(x.samples, e)
			if small == nil {
				return fmt.Errorf("%s: the compiler refuses it, as said: there is nothing to shrink", show.Name(args[0]))
			}
			if err := prove(cmd.Context(), s, args[0], x.samples, small, build); err != nil {
				return err
			}
			return writeProfile(s, &out, small)
		},
	}
	out.flag(cmd)
	in.flags(cmd)
	cmd.Flags().StringVar(&build, "build", "", "also build `PACKAGE` with each profile, and say how long it takes")
	return cmd
}

// prove checks that the compiler's own reader reads the same from a profile and its small form. A
// profile in another format is compared in the form that pgo collect writes.
func prove(ctx context.Context, s *streams, arg string, large, small *pgo.Profile, build string) error {
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return fmt.Errorf("making a directory for the proof: %w", err)
	}
	defer os.RemoveAll(dir)
	before := arg
	if f, kind, err := sniff(arg); err != nil {
		return err
	} else if f == nil || kind != kindPprof {
		before = filepath.Join(dir, "before.pgo")
		if err := writeProfile(s, &output{before}, large); err != nil {
			return err
		}
	} else {
		f.Close()
	}
	after := filepath.Join(dir, "after.pgo")
	if err := writeProfile(s, &output{after}, small); err != nil {
		return err
	}
	var sizes [2]int64
	var read [2][]byte
	var times, builds [2]time.Duration
	for i, path := range []string{before, after} {
		st, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("looking at a profile: %w", err)
		}
		sizes[i] = st.Size()
		if read[i], times[i], err = goTool(ctx, "tool", "preprofile", "-i", path); err != nil {
			return err
		}
	}
	if !bytes.Equal(read[0], read[1]) {
		return fmt.Errorf("%s: go tool preprofile reads the small profile otherwise, so it was not written; this is a mistake of scopeview's", show.Name(arg))
	}
	fmt.Fprintf(s.err, "scopeview: %s → %s; go tool preprofile reads the same %s from both, in %s → %s\n", show.Size(sizes[0]), show.Size(sizes[1]),
		show.Size(int64(len(read[0]))), show.Duration(int64(times[0])), show.Duration(int64(times[1])))
	if build == "" {
		return nil
	}
	for i, path := range []string{before, after} {
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
		if _, builds[i], err = goTool(ctx, "build", "-a", "-o", filepath.Join(dir, "x"), "-pgo="+path, build); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.err, "scopeview: go build -a %s takes %s → %s\n", show.Name(build), show.Duration(int64(builds[0])), show.Duration(int64(builds[1])))
	return nil
}

// goTool runs the go command, and returns its output and its duration.
func goTool(ctx context.Context, args ...string) ([]byte, time.Duration, error) {
	begin := time.Now()
	cmd := exec.CommandContext(ctx, "go", args...)
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		var failed *exec.ExitError
		said := ""
		if errors.As(err, &failed) {
			said = ": " + show.Text(strings.TrimSpace(string(failed.Stderr)))
		}
		return nil, 0, fmt.Errorf("go %s: %w%s", strings.Join(args, " "), err, said)
	}
	return out, time.Since(begin), nil
}
