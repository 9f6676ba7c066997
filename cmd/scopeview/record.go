package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/outside"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/show"
)

func newRecord(c *call) func() error {
	f := c.flags()
	to := f.StringP("output", "o", "", "write to the new `FILE` (default: named for the command, the time and the process, in the current directory)")
	counters := f.StringArray("counter", []string{"task-clock"}, "sample the event `NAME[:EVERY]`; may be repeated")
	switches := f.Bool("switches", true, "record when threads are on a CPU, at a cost of about a microsecond per switch")
	c.completeValues("counter", perf.Counters())
	return func() error {
		o := outside.Options{Command: c.args, Path: *to, In: os.Stdin, Out: c.s.out, Err: c.s.err, NoSwitches: !*switches, Full: func(err error) {
			fmt.Fprintf(c.s.err, "scopeview: %v: nothing more is recorded; %s goes on\n", err, show.Name(c.args[0]))
		}}
		for _, text := range *counters {
			counter, err := perf.ParseCounter(text)
			if err != nil {
				return usagef("--counter: %w", err)
			}
			o.Counters = append(o.Counters, counter)
		}
		if *to == "" {
			o.Path = filepath.Base(c.args[0]) + "-" + time.Now().UTC().Format("20060102T150405Z") + "-" + strconv.Itoa(os.Getpid()) + extension
		}
		res, err := outside.Record(c.context(), o)
		if err != nil {
			return err
		}
		if res.Lost > 0 {
			fmt.Fprintf(c.s.err, "scopeview: %s lost: the buffer was full; take fewer with --counter NAME:EVERY\n", show.Plural(res.Lost, "sample"))
		}
		unsampled := ""
		if res.Unsampled > 0 {
			unsampled = fmt.Sprintf(" (%v of it in no sample: threads were switched)", res.Unsampled.Round(time.Millisecond))
		}
		fmt.Fprintf(c.s.err, "scopeview: %s of %s, which had %v of CPU time%s, in %s\n",
			show.Plural(res.Samples, "sample"), show.Name(c.args[0]), res.CPU.Round(time.Millisecond), unsampled, show.Name(o.Path))
		if res.Signal != "" {
			return &exit{exitFailed, fmt.Errorf("%s was ended by a signal (%s); %s has the recording until then", show.Name(c.args[0]), res.Signal, show.Name(o.Path))}
		}
		if res.Exit != 0 {
			return &exit{code: res.Exit}
		}
		return nil
	}
}
