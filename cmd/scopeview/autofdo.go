package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/autofdo"
	reportautofdo "github.com/scopeview/scopeview/internal/report/autofdo"
	"github.com/scopeview/scopeview/internal/show"
)

const textHelp = `TEXT is a sample profile in LLVM's text format, read as strictly as the format is: one blank too many is an error,
with the line and what is expected there. --lenient forgives blanks, and says what it forgave. What Clang reads
otherwise than it looks is a warning. Binary profiles: llvm-profdata merge --sample --text IN -o TEXT.`

func newAutofdo(s *streams) *cobra.Command {
	cmd := head("autofdo", "Write and read sample profiles of LLVM's text format, for clang and for Go",
		`autofdo makes the sample profiles that clang -fprofile-sample-use reads of what was recorded, also of programs in C
and C++ (perf record), and makes of those profiles what go build -pgo reads. Build those programs with clang
-gline-tables-only -fdebug-info-for-profiling: otherwise half of a C++ program's weight has no place in the profile.

`+textHelp,
		`  scopeview autofdo write perf.data --binary ./prog -o prog.afdo    then: clang -fprofile-sample-use=prog.afdo
  scopeview autofdo write traces/ -o server.afdo
  scopeview autofdo read server.afdo -o default.pgo                 then: go build
  scopeview autofdo merge monday.afdo tuesday.afdo -o week.afdo
  scopeview autofdo overlap old.afdo new.afdo`)
	return family(cmd, newAutofdoWrite(s), newAutofdoRead(s), newAutofdoMerge(s), newAutofdoShow(s), newAutofdoOverlap(s))
}

// texts reads sample profiles.
type texts struct {
	lossy
	s       *streams
	lenient bool
	out     output
}

func (x *texts) flags(cmd *cobra.Command) {
	x.out.flag(cmd)
	x.readFlags(cmd)
}

// readFlags adds the flags for reading a TEXT.
func (x *texts) readFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&x.lenient, "lenient", false, "forgive blanks that the format has no place for, and say so")
	x.lossy.flag(cmd)
}

// read reads a profile, and prints its warnings on standard error.
func (x *texts) read(path string) (*autofdo.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the profile: %w", err)
	}
	defer f.Close()
	p, warnings, err := autofdo.Read(f, path, x.lenient)
	x.lost = x.lost || len(warnings) > 0
	for _, w := range warnings {
		fmt.Fprintf(x.s.err, "scopeview: %s\n", show.Text(w.In(path)))
	}
	return p, err
}

// write writes a profile.
func (x *texts) write(p *autofdo.Profile) error {
	return x.out.write(x.s, func(w io.Writer) error { return autofdo.Write(x.out.exact(x.s, w), p) })
}

func newAutofdoWrite(s *streams) *cobra.Command {
	var (
		in   = profileInput{s: s}
		out  = texts{s: s}
		flat bool
	)
	cmd := &cobra.Command{
		Use:   "write PROFILE",
		Short: "Write a sample profile in LLVM's text format",
		Long: `write writes what PROFILE has as a sample profile: of each function its samples, those of its prologue, and by line
the samples and what was called from there. Inlined functions stand in those that they are inlined into; with
--flat they are functions of their own, as in the format's first form. Of a perf.data with branch records (perf
record -b) it counts the code between the branches.

` + profileHelp,
		Example: `  scopeview autofdo write perf.data --binary ./prog -o prog.afdo
  scopeview autofdo write cpu.pprof --flat`,
		Args: profileArgs(1, 1), ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := in.read(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var said []string
			p := x.text
			if p == nil {
				var notes autofdo.Notes
				if x.branches != nil {
					p, notes = autofdo.FromBranches(x.branches)
				} else {
					p, notes = autofdo.FromSamples(x.samples)
				}
				said = notes.Sentences()
			}
			if flat {
				var m autofdo.Merged
				p, m = p.Flat()
				said = append(said, m.Sentences()...)
			}
			for _, text := range said {
				fmt.Fprintf(s.err, "scopeview: %s: %s\n", show.Name(args[0]), show.Text(text))
			}
			if len(p.Functions) == 0 {
				return fmt.Errorf("%s: it has nothing of functions whose names and lines are known, so no profile is written", show.Name(args[0]))
			}
			return out.write(p)
		},
	}
	out.out.flag(cmd)
	in.flags(cmd)
	cmd.Flags().BoolVar(&flat, "flat", false, "write inlined functions as functions of their own")
	return cmd
}

// textArgs checks the number of TEXTs of a command; most 0: any number.
func textArgs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return fmt.Errorf("%s takes %s; these are %d: %q", cmd.Name(), strings.ReplaceAll(counted(least, most), "PROFILE", "TEXT"), len(args), args)
		}
		return nil
	}
}

func newAutofdoRead(s *streams) *cobra.Command {
	x := &texts{s: s}
	cmd := &cobra.Command{
		Use:   "read TEXT",
		Short: "Make a default.pgo for Go's compiler of a sample profile",
		Long: `read makes a profile for go build -pgo of a sample profile: a call for each call target and each inlined function,
with its count.

` + textHelp,
		Example: `  scopeview autofdo read server.afdo -o default.pgo && go build ./cmd/server`,
		Args:    textArgs(1, 1), ValidArgsFunction: completeSource,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := x.read(args[0])
			if err != nil {
				return err
			}
			q, err := autofdo.ToSamples(p)
			if err != nil {
				return fmt.Errorf("%s: %w", show.Name(args[0]), err)
			}
			if len(q.Weight) == 0 {
				return fmt.Errorf("%s: no line has a call target, and nothing is inlined: Go's compiler would have nothing to go by, so no profile is written", show.Name(args[0]))
			}
			return writeProfile(s, &x.out, q)
		},
	}
	x.flags(cmd)
	return cmd
}

func newAutofdoMerge(s *streams) *cobra.Command {
	x := &texts{s: s}
	weights := ""
	cmd := &cobra.Command{
		Use:     "merge TEXT…",
		Short:   "Add sample profiles up",
		Long:    "merge adds sample profiles up, as llvm-profdata merge --sample --text does. --weights says how often each counts.\n\n" + textHelp,
		Example: `  scopeview autofdo merge --weights 3,1 api.afdo batch.afdo -o all.afdo`,
		Args:    textArgs(1, 0), ValidArgsFunction: completeAll,
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := parseCounts(weights, len(args))
			if err != nil {
				return err
			}
			sum := autofdo.New()
			for i, path := range args {
				p, err := x.read(path)
				if err != nil {
					return err
				}
				m, err := autofdo.Merge(sum, p, list[i])
				if err != nil {
					return fmt.Errorf("%s: %w", show.Name(path), err)
				}
				x.lost = x.lost || len(m.Sentences()) > 0
				for _, text := range m.Sentences() {
					fmt.Fprintf(s.err, "scopeview: %s: %s\n", show.Name(path), show.Text(text))
				}
			}
			return x.write(sum)
		},
	}
	x.flags(cmd)
	cmd.Flags().StringVar(&weights, "weights", "", "count the profiles so often, in their order: `LIST` such as 3,1")
	return cmd
}

// parseCounts parses the weights of n profiles; "" is 1 for each.
func parseCounts(text string, n int) (list []uint64, err error) {
	if text == "" {
		text = strings.TrimSuffix(strings.Repeat("1,", n), ",")
	}
	for word := range strings.SplitSeq(text, ",") {
		w, err := strconv.ParseUint(strings.TrimSpace(word), 10, 32)
		if err != nil || w == 0 {
			return nil, usagef("--weights: %q is no weight; write whole numbers above 0, such as 3,1", word)
		}
		list = append(list, w)
	}
	if len(list) != n {
		return nil, usagef("--weights has %s, and there are %s", show.Plural(int64(len(list)), "number"), show.Plural(int64(n), "profile"))
	}
	return list, nil
}

func newAutofdoShow(s *streams) *cobra.Command {
	x := &texts{s: s}
	l := &looking{in: profileInput{s: s}}
	cmd := &cobra.Command{
		Use:     "show TEXT",
		Short:   "Show the functions of a sample profile, the hottest first",
		Long:    "show lists the functions of a sample profile: samples, those of the prologue, the hottest line, what was called.\n\n" + textHelp,
		Example: `  scopeview autofdo show server.afdo -n 10`,
		Args:    textArgs(1, 1), ValidArgsFunction: completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := x.read(args[0])
			if err != nil {
				return err
			}
			return l.show(cmd, reportautofdo.Show(p))
		},
	}
	l.tableFlags(cmd)
	x.readFlags(cmd)
	return cmd
}

func newAutofdoOverlap(s *streams) *cobra.Command {
	x := &texts{s: s}
	l := &looking{in: profileInput{s: s}}
	least := ""
	cmd := &cobra.Command{
		Use:   "overlap TEXT TEXT",
		Short: "Tell how alike two sample profiles are",
		Long: `overlap tells how alike two sample profiles are, by function and in all, as llvm-profdata overlap --sample does.
With --fail-below SHARE it ends with exit code 4 where they are less alike.

` + textHelp,
		Example: `  scopeview autofdo overlap old.afdo new.afdo --fail-below 60%`,
		Args:    textArgs(2, 2), ValidArgsFunction: completeAll,
		RunE: func(cmd *cobra.Command, args []string) error {
			share, err := parseShare("fail-below", least)
			if err != nil {
				return err
			}
			var both [2]*autofdo.Profile
			for i, path := range args {
				if both[i], err = x.read(path); err != nil {
					return err
				}
			}
			similar, err := autofdo.Overlap(both[0], both[1])
			if err != nil {
				return fmt.Errorf("%s and %s: %w", show.Name(args[0]), show.Name(args[1]), err)
			}
			if err := l.show(cmd, reportautofdo.Overlap(args[0], args[1], similar)); err != nil {
				return err
			}
			return below100(similar.Percent, share, "overlap")
		},
	}
	l.tableFlags(cmd)
	x.readFlags(cmd)
	cmd.Flags().StringVar(&least, "fail-below", "0%", "end with exit code 4 below this `SHARE`")
	return cmd
}
