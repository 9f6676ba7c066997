package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/outside"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/show"
)

const recordHelp = `record runs a program, of any language, and records from outside where its threads were each time that they had
had 10 ms of CPU time, and when they were on a CPU. The program needs no change: scopes, goroutines and waits by
reason are only in what a program records itself. What the program prints stays as it is; scopeview says on standard
error where the trace is, and exits as the program did.

Linux only; kernel.perf_event_paranoid up to 2 will do, and above 1 the kernel's part is not known. Processes that the program
starts are recorded too. Calls are followed by frame pointers: Go has them, C often lacks them.

--counter takes samples of something else, or more often: task-clock:1ms, page-faults, minor-faults, major-faults,
context-switches, cpu-migrations; and where the machine has them cycles, instructions, cache-references,
cache-misses, branches, branch-misses, each with :EVERY, after how many there is a sample.`

func newRecord(s *streams) *cobra.Command {
	var (
		to       string
		counters []string
		switches bool
	)
	cmd := &cobra.Command{
		Use:   "record [flags] -- COMMAND [ARGUMENTS]",
		Short: "Record a program from outside, unchanged: where its CPU time goes, page faults, switches",
		Long:  recordHelp,
		Example: `  scopeview record -- ./server -addr :8080
  scopeview record -o x.scope -- ./store.test -test.bench . && scopeview functions x.scope
  scopeview record -o x.scope --counter task-clock:1ms --counter page-faults -- ./prog`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("record needs a command: scopeview record -- ./program arguments")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o := outside.Options{Command: args, Path: to, In: os.Stdin, Out: s.out, Err: s.err, NoSwitches: !switches, Full: func(err error) {
				fmt.Fprintf(s.err, "scopeview: %v: nothing more is recorded; %s goes on\n", err, show.Name(args[0]))
			}}
			for _, text := range counters {
				c, err := perf.ParseCounter(text)
				if err != nil {
					return usagef("--counter: %w", err)
				}
				o.Counters = append(o.Counters, c)
			}
			if to == "" {
				o.Path = filepath.Base(args[0]) + "-" + time.Now().UTC().Format("20060102T150405Z") + "-" + strconv.Itoa(os.Getpid()) + extension
			}
			res, err := outside.Record(cmd.Context(), o)
			if err != nil {
				return err
			}
			if res.Lost > 0 {
				fmt.Fprintf(s.err, "scopeview: %s were lost: there was no room for them; take fewer with --counter NAME:EVERY\n", show.Plural(res.Lost, "sample"))
			}
			unsampled := ""
			if res.Unsampled > 0 {
				unsampled = fmt.Sprintf(" (%v of it in no sample: threads were switched)", res.Unsampled.Round(time.Millisecond))
			}
			fmt.Fprintf(s.err, "scopeview: %s of %s, which had %v of CPU time%s, in %s\n",
				show.Plural(res.Samples, "sample"), show.Name(args[0]), res.CPU.Round(time.Millisecond), unsampled, show.Name(o.Path))
			if res.Signal != "" {
				return &exit{exitFailed, fmt.Errorf("%s was ended by a signal (%s); what it did until then is in %s", show.Name(args[0]), res.Signal, show.Name(o.Path))}
			}
			if res.Exit != 0 {
				return &exit{code: res.Exit}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&to, "output", "o", "", "write to the new `FILE` (default: the command's name, the time and a number, here)")
	f.StringArrayVar(&counters, "counter", []string{"task-clock"}, "take samples of `NAME[:EVERY]`; may be repeated")
	f.BoolVar(&switches, "switches", true, "record when threads are on a CPU, which costs each switch about a microsecond")
	s.complete(cmd, "counter", perf.Counters())
	return cmd
}
