// Command gostats prints the contents of a tree of Go files: declarations by
// kind, the most used identifiers, the largest packages and how well they
// compress. It works through the files with a pool of workers and records with
// scopeview what they do:
//
//	go run ./examples/gostats -workers 8 -trace traces/
//	scopeview top traces/
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/build"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type options struct {
	dir     string
	trace   string
	gotrace bool
	workers int
	repeat  int
	merge   int
	limit   int
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("gostats", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.dir, "dir", filepath.Join(build.Default.GOROOT, "src"), "read the Go files below this `directory`")
	fs.StringVar(&o.trace, "trace", "", "record into this trace `file`, or into a new one in this directory")
	fs.BoolVar(&o.gotrace, "gotrace", false, "record Go's execution trace too, for scopeview doctor")
	fs.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "how many files to work on at once")
	fs.IntVar(&o.repeat, "repeat", 1, "do it all so many times and print the last result")
	fs.IntVar(&o.merge, "merge-every", 8, "how many files a worker keeps to itself before it merges their sizes into the shared ones")
	fs.IntVar(&o.limit, "limit-files", 0, "stop after so many files; 0: take all")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	var err error
	switch {
	case fs.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case o.workers < 1 || o.repeat < 1 || o.merge < 1 || o.limit < 0:
		err = errors.New("-workers, -repeat and -merge-every must be at least 1, -limit-files at least 0")
	}
	if err != nil {
		fmt.Fprintln(stderr, "gostats:", err)
	}
	return o, err
}

// run is main with its surroundings as arguments; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	if err := record(o, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "gostats:", err)
		return 1
	}
	return 0
}

// record runs the program's work within a recording, if one is asked for.
func record(o options, stdout, stderr io.Writer) (err error) {
	if o.trace != "" {
		var more []scope.Option
		if o.gotrace {
			more = append(more, gotrace.With())
		}
		if err := scope.Start(o.trace, more...); err != nil {
			return fmt.Errorf("recording can't start: %w", err)
		}
		fmt.Fprintln(stderr, "gostats: recording into", scope.Path())
		defer func() { err = errors.Join(err, scope.Stop()) }()
	}
	files, err := goFiles(o.dir, o.limit)
	if err != nil {
		return fmt.Errorf("the files can't be listed: %w", err)
	}
	if len(files) == 0 {
		return fmt.Errorf("no Go file below %s", o.dir)
	}
	var s *stats
	for n := range o.repeat {
		s = pass(files, o.workers, o.merge)
		scope.Event("pass done", scope.KV("pass", n+1))
	}
	if err := s.print(stdout); err != nil {
		return fmt.Errorf("the summary can't be written: %w", err)
	}
	return s.err
}
