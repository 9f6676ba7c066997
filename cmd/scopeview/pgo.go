package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/outside"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/show"
)

func newPgo(s *streams) *cobra.Command {
	cmd := head("pgo", "Give what was measured to Go's compiler, and see what it made of it",
		`pgo makes profiles for go build -pgo of what was recorded, and tells what Go's compiler does not: what it reads in
a profile, whether that still fits the source, what it did with it, and whether the program became faster.

`+profileHelp+`

docs/pgo.md leads from nothing to a measured faster build.`,
		`  scopeview pgo collect traces/ -o default.pgo     of all recordings in a directory
  scopeview pgo show default.pgo                   the calls that the compiler takes for hot
  scopeview pgo check default.pgo                  how much of it today's source still has
  scopeview pgo explain default.pgo ./cmd/server   what the compiler did with each hot call
  scopeview pgo ab ./cmd/server -- -n 1000         is it faster, and how sure is that`)
	return family(cmd, newPgoCollect(s), newPgoMerge(s), newPgoShow(s), newPgoOverlap(s),
		newPgoCheck(s), newPgoSalvage(s), newPgoRename(s), newPgoShrink(s), newPgoExplain(s), newPgoAB(s))
}

// family adds commands below one that does nothing itself.
func family(cmd *cobra.Command, members ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(members...)
	return cmd
}

// head returns a command that only has commands below it.
func head(name, short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use: name + " COMMAND", Short: short, Long: long, Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %s %q", name, args[0])
			}
			return usagef("%s needs a command: %s", name, strings.Join(below(cmd), ", "))
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

func below(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// flags adds the flags for reading a PROFILE.
func (in *profileInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.binary, "binary", "", "the executable that ran is `FILE`, where a recording or a perf.data needs it")
	f.StringVar(&in.event, "event", "", "of a perf.data take the samples of the event `NAME` (default: its first)")
	in.lossy.flag(cmd)
	f.StringVar(&in.ran, "executable", "", "take the executable of this `NAME`, of several in a recording (default: there is one) or in a perf.data (default: that with the most samples)")
}

// profileArgs checks the number of PROFILEs of a command; most 0: any number.
func profileArgs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return fmt.Errorf("%s takes %s; these are %d: %q", cmd.Name(), counted(least, most), len(args), args)
		}
		return nil
	}
}

func counted(least, most int) string {
	switch {
	case most == 0:
		return "one PROFILE or more"
	case least == 1:
		return "one PROFILE"
	}
	return "two PROFILEs"
}

// edges reads a PROFILE, and returns it with the edges that the compiler derives from it.
func (in *profileInput) edges(ctx context.Context, arg string) (*input, *pgo.Edges, error) {
	x, err := in.read(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	e, err := x.samples.Edges()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", show.Name(arg), err)
	}
	if !e.Lines && len(e.Weight) > 0 {
		fmt.Fprintf(in.s.err, "scopeview: %s: no function's first line is known, so the compiler refuses it; profiles of Go 1.20 and later have them\n", show.Name(arg))
	}
	return x, e, nil
}

// merging is the common part of collect and merge.
type merging struct {
	in  profileInput
	out output
	by  pgo.By
}

// merge adds up profiles. It reads as many at once as there are processors, and keeps none in
// memory.
func (m *merging) merge(ctx context.Context, names []string, weights []float64) (*pgo.Profile, error) {
	sum := pgo.NewMerger(m.by)
	step := m.in.s.steps("profile ")
	defer m.in.s.stepsDone()
	for batch := range len(names) {
		at := batch * runtime.GOMAXPROCS(0)
		if at >= len(names) {
			break
		}
		step(at, len(names))
		list, err := m.readAll(ctx, names[at:min(at+runtime.GOMAXPROCS(0), len(names))])
		if err != nil {
			return nil, err
		}
		for i, x := range list {
			if err := sum.Add(x.name, x.samples, weights[at+i]); err != nil {
				return nil, fmt.Errorf("%s: %w", show.Name(x.name), err)
			}
		}
	}
	p, n := sum.Profile()
	total, err := p.Total()
	if err != nil {
		return nil, err
	}
	if total == 0 {
		return nil, fmt.Errorf("there is not one call in %s: the compiler would have nothing to go by, so none is written", show.Plural(int64(n), "profile"))
	}
	fmt.Fprintf(m.in.s.err, "scopeview: %d %s of %s\n", total, p.Unit, show.Plural(int64(n), "profile"))
	return p, nil
}

func (m *merging) readAll(ctx context.Context, names []string) ([]*input, error) {
	var (
		wait  sync.WaitGroup
		list  = make([]*input, len(names))
		notes = make([][]string, len(names))
		errs  = make([]error, len(names))
	)
	for i, name := range names {
		wait.Go(func() { list[i], notes[i], errs[i] = m.in.readQuietly(ctx, name) })
	}
	wait.Wait()
	for i := range names {
		m.in.say(list[i], notes[i])
	}
	return list, errors.Join(errs...)
}

// write writes a profile for the compiler.
func (m *merging) write(p *pgo.Profile) error {
	return writeProfile(m.in.s, &m.out, p)
}

func writeProfile(s *streams, out *output, p *pgo.Profile) error {
	if out.standard() && s.outTerm {
		return usagef("a compressed profile is nothing to read on a terminal: give a file with -o default.pgo")
	}
	return out.write(s, func(w io.Writer) error { return p.Write(w) })
}

func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

func newPgoCollect(s *streams) *cobra.Command {
	m := &merging{in: profileInput{s: s}, by: pgo.ByWeight}
	seconds := 0
	cmd := &cobra.Command{
		Use:   "collect SOURCE… | -- COMMAND [ARGUMENTS]",
		Short: "Make a default.pgo of recordings, of a running program, or of a command",
		Long: `collect makes a profile for go build -pgo of what SOURCE has: a PROFILE, a directory of them, the number of a
process that records, or a program's debug server. Of http://HOST:PORT it asks net/http/pprof for a CPU profile,
of the address of scopehttp.Handler for what is recorded. Behind -- stands a command, which is recorded from
outside while it runs (scopeview record). Several sources are added up; merge can weigh them.

` + profileHelp + `

Of each stack it keeps the two innermost places, as the compiler does. The first lines of functions, which the
compiler asks for, are in pprof's profiles; for recordings the executable is looked for where it was: --binary says
where it is now, and what scopeview archive has stored comes first.`,
		Example: `  scopeview pgo collect traces/ -o default.pgo
  scopeview pgo collect http://localhost:6060 --seconds 60 -o default.pgo
  scopeview pgo collect -o default.pgo -- ./server -requests 10000
  scopeview pgo collect perf.data --binary ./server -o default.pgo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("collect needs a SOURCE: a recording, a directory of them, a profile, http://HOST:PORT, or -- and a command")
			}
			return nil
		},
		ValidArgsFunction: completeAll,
		RunE: func(cmd *cobra.Command, args []string) error {
			got := downloads{patience: stalledAfter}
			defer got.remove()
			if seconds < 1 {
				return usagef("--seconds %d: it takes 1 or more", seconds)
			}
			names, err := m.sources(cmd, &got, args, seconds)
			if err != nil {
				return err
			}
			p, err := m.merge(cmd.Context(), names, ones(len(names)))
			if err != nil {
				return err
			}
			return m.write(p)
		},
	}
	m.out.flag(cmd)
	m.in.flags(cmd)
	cmd.Flags().IntVar(&seconds, "seconds", 30, "have a debug server sample for `N` seconds")
	return cmd
}

// completeAll completes arguments that are all files of any name, or directories.
func completeAll(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// sources returns the files for collect's arguments.
func (m *merging) sources(cmd *cobra.Command, got *downloads, args []string, seconds int) ([]string, error) {
	var command []string
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, command = args[:dash], args[dash:]
	}
	names, err := sourcesOf(args)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if isAddress(name) {
			if names[i], err = got.fetchProfile(cmd.Context(), m.in.s, name, seconds); err != nil {
				return nil, err
			}
		}
	}
	if len(command) == 0 {
		return names, nil
	}
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the recording: %w", err)
	}
	got.dirs = append(got.dirs, dir)
	path := filepath.Join(dir, filepath.Base(command[0])+extension)
	clock, err := perf.ParseCounter("task-clock")
	if err != nil {
		return nil, err
	}
	o := outside.Options{Command: command, Path: path, Counters: []perf.Counter{clock}, NoSwitches: true, In: os.Stdin, Out: m.in.s.err, Err: m.in.s.err}
	o.Full = func(err error) { fmt.Fprintf(m.in.s.err, "scopeview: %v: nothing more is recorded\n", err) }
	res, err := outside.Record(cmd.Context(), o)
	if err != nil {
		return nil, err
	}
	if res.Exit != 0 {
		return nil, fmt.Errorf("%s ended with exit code %d%s, so what it did is no measure", show.Name(command[0]), res.Exit, res.Signal)
	}
	return append(names, path), nil
}

func newPgoMerge(s *streams) *cobra.Command {
	m := &merging{in: profileInput{s: s}}
	var by, weights string
	cmd := &cobra.Command{
		Use:   "merge PROFILE…",
		Short: "Add profiles up, by sample, by duration, or each the same",
		Long: `merge adds profiles up. By weight a sample counts as a sample, so a profile that was collected for longer, or of a
busier program, counts more. By duration a second of each counts the same, and by share each profile does.
--weights says how often each counts besides. Comments of the result name its sources; go tool pprof -comments shows
them. Of a directory all profiles are taken.

` + profileHelp,
		Example: `  scopeview pgo merge monday.pgo tuesday.pgo -o default.pgo
  scopeview pgo merge --by share --weights 3,1 api.pprof batch.pprof -o default.pgo`,
		Args: profileArgs(1, 0), ValidArgsFunction: completeAll,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch m.by = pgo.By(by); m.by {
			case pgo.ByWeight, pgo.ByDuration, pgo.ByShare:
			default:
				return usagef("--by %q: there is %s, %s, %s", by, pgo.ByWeight, pgo.ByDuration, pgo.ByShare)
			}
			names, err := sourcesOf(args)
			if err != nil {
				return err
			}
			list, err := parseWeights(weights, len(names))
			if err != nil {
				return err
			}
			p, err := m.merge(cmd.Context(), names, list)
			if err != nil {
				return err
			}
			return m.write(p)
		},
	}
	m.out.flag(cmd)
	m.in.flags(cmd)
	cmd.Flags().StringVar(&by, "by", string(pgo.ByWeight), "what counts the same of each: weight, duration, share")
	cmd.Flags().StringVar(&weights, "weights", "", "count the profiles so often, in their order: `LIST` such as 3,1,0.5")
	s.complete(cmd, "by", []string{string(pgo.ByWeight), string(pgo.ByDuration), string(pgo.ByShare)})
	return cmd
}

// parseWeights parses the weights of n profiles; "" is 1 for each. It scales weights below 1 so
// that the smallest is 1: otherwise values rounded up to one sample would weigh too much.
func parseWeights(text string, n int) ([]float64, error) {
	if text == "" {
		return ones(n), nil
	}
	var list []float64
	for word := range strings.SplitSeq(text, ",") {
		w, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(w > 0 && w <= 1e6) {
			return nil, usagef("--weights: %q is no weight; write numbers above 0, such as 3,1,0.5", word)
		}
		list = append(list, w)
	}
	if len(list) != n {
		return nil, usagef("--weights has %s, and there are %s", show.Plural(int64(len(list)), "number"), show.Plural(int64(n), "profile"))
	}
	if least := slices.Min(list); least < 1 {
		for i := range list {
			list[i] /= least
		}
	}
	return list, nil
}
