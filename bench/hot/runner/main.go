// Command runner runs slices of the hot path's loops, as commanded on its standard input,
// and replies on its standard output: the harness runs one for each compared revision, and
// alternates between them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/scope"
)

// Command and Reply are twins of those in the harness (compare_runner.go), which
// must not be imported: it does not build against other revisions.
type command struct {
	Do  string // "record" into Dir, all but what Filter leaves out; "run" N of Row on a CPU (-1: any); "count" from here on; "stop"
	Row string
	N   int
	CPU int
	Dir string

	Filter string
}

type reply struct {
	NS       int64 // of a slice
	Recorded int64 // since "count"
	Lost     int64
	Recorder string // description of the recorder
	Error    string
}

var loops = map[string]hot.Loop{
	"floor":    hot.Timed(floor.Loop),
	"empty":    hot.Timed(floor.Empty),
	"task":     hot.Timed(hot.Tasks),
	"ints":     hot.Timed(hot.TasksInts),
	"mixed":    hot.Timed(hot.TasksMixed),
	"crossing": hot.Crossing,
	"together": hot.Together(hot.Tasks),
}

func main() {
	// Slices run on this thread, on the CPU chosen by the harness.
	runtime.LockOSThread()
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	var (
		commands, replies = json.NewDecoder(in), json.NewEncoder(out)
		counted           scope.Statistics
	)
	for {
		var c command
		if err := commands.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var r reply
		if err := c.do(&r, &counted); err != nil {
			r.Error = err.Error()
		}
		if err := replies.Encode(r); err != nil {
			return err
		}
	}
}

func (c *command) do(r *reply, counted *scope.Statistics) error {
	switch c.Do {
	case "record":
		return scope.Start(filepath.Join(c.Dir, "runner.scope"), scope.WithOverwrite(), scope.WithLimit(16<<30), scope.WithFilter(c.Filter))
	case "count":
		*counted = scope.Stats()
		return nil
	case "stop":
		err := scope.Stop()
		s := scope.Stats()
		r.Recorded, r.Lost = s.Recorded-counted.Recorded, s.Lost.Total()-counted.Lost.Total()
		r.Recorder = s.Recorder
		return err
	case "run":
		l := loops[c.Row]
		if l == nil {
			return fmt.Errorf("no loop is called %q", c.Row)
		}
		if err := pin(c.CPU); err != nil {
			return err
		}
		r.NS = int64(l(c.N) / time.Nanosecond)
		return nil
	}
	return fmt.Errorf("%q is no command", c.Do)
}
