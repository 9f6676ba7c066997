package main

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/membench"
)

func newMembench(s *streams) *cobra.Command {
	var (
		out    output
		asJSON bool
		o      membench.Options
	)
	cmd := &cobra.Command{
		Use:   "membench",
		Short: "Measure how much memory this machine moves, by the number of cores",
		Long: `membench copies memory, and computes a[i] = b[i] + s·c[i] over it, on one core, two, and so on up to
GOMAXPROCS, in arrays several times as large as the last-level cache. It tells from how many cores on further
ones bring nothing: there a program that waits for memory stops to scale.

inflation is how many times longer the same work takes on so many cores than on one: of memory, for work that
only moves memory, of compute, for work that needs none (cores that are threads of one core, or that the host
shares out, slow each other down in that too). scopeview doctor --membench FILE takes the --json document, to
tell whether work that costs more CPU time in parallel waits for memory.

It takes all the cores for some three seconds. Measure on a machine that does nothing else.`,
		Example: `  scopeview membench
  scopeview membench --json -o machine.json && scopeview doctor x.scope --membench machine.json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Time < 10*time.Millisecond || o.Time > time.Hour {
				return usagef("--time %v: it takes 10ms to 1h", o.Time)
			}
			o.Progress = s.steps("")
			r, err := membench.Measure(cmd.Context(), o)
			s.stepsDone()
			if err != nil {
				return err
			}
			return out.write(s, func(w io.Writer) error {
				if asJSON {
					return writeJSON(w, cmd.Name(), r)
				}
				return membenchText(w, r, out.styles(s))
			})
		},
	}
	out.flag(cmd)
	f := cmd.Flags()
	jsonFlag(cmd, &asJSON)
	f.IntVar(&o.Cores, "cores", 0, "measure with up to `N` cores; 0: GOMAXPROCS")
	f.DurationVar(&o.Time, "time", 3*time.Second, "take about so `LONG`; shorter is less exact")
	return cmd
}

// noArguments checks that a command that is about no trace got none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, not %q", cmd.Name(), args)
	}
	return nil
}

func membenchText(w io.Writer, r *membench.Result, st styles) error {
	var b bytes.Buffer
	line := plural(int64(r.Cores), "core")
	if r.CPU != "" {
		line = show(r.CPU) + ", " + line
	}
	if r.Cache > 0 {
		line += ", last-level cache " + size(r.Cache)
	}
	fmt.Fprintf(&b, "%s; arrays of %s\n", line, size(r.Arrays))
	if r.Doubt != "" {
		fmt.Fprintf(&b, "%s\n", st.yellow(r.Doubt))
	}
	b.WriteByte('\n')
	t := newTable("cores", "copy", "a=b+s·c", "inflation: memory", "compute")
	for _, p := range r.Points {
		m, c := r.Inflation(p)
		t.add(fmt.Sprint(p.Cores), gigabytes(p.Copy), gigabytes(p.Triad), fmt.Sprintf("%.2f", m), fmt.Sprintf("%.2f", c))
	}
	if err := t.write(&b, st); err != nil {
		return err
	}
	last := r.Points[len(r.Points)-1].Cores
	switch {
	case len(r.Points) == 1:
		b.WriteString("\nwith one core, nothing can be said about more of them\n")
	case r.Saturated > 0:
		fmt.Fprintf(&b, "\n%s saturated by %s: more of them move less than a tenth more\n", st.bold("memory is"), plural(int64(r.Saturated), "core"))
	case r.Doubt == "":
		fmt.Fprintf(&b, "\nmemory is not saturated by %s\n", plural(int64(last), "core"))
	}
	_, err := b.WriteTo(w)
	return err
}

func gigabytes(perSecond float64) string { return fmt.Sprintf("%.1f GB/s", perSecond/1e9) }
