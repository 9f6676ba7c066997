// Command real has ten healthy programs of three modules that others wrote: pgzip, badger
// and nats-server, used as their own pages show it. make doctor-check records them, and
// what scopeview doctor says of one is false unless scopeview scale finds room for it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// program is one of them. What it makes at first is part of it, because scale runs the
// whole as well.
type program struct {
	name string
	run  func(dir string) error
}

var programs = []program{
	{"pgzip-compress", pgzipCompress},
	{"pgzip-decompress", pgzipDecompress},
	{"pgzip-files", pgzipFiles},
	{"badger-load", badgerLoad},
	{"badger-read", badgerRead},
	{"badger-update", badgerUpdate},
	{"badger-scan", badgerScan},
	{"nats-publish", natsPublish},
	{"nats-request", natsRequest},
	{"jetstream-publish", jetstreamPublish},
}

func main() {
	trace := flag.String("trace", "", "record into this trace `file`")
	flag.Parse()
	for _, p := range programs {
		if flag.NArg() == 0 {
			fmt.Println(p.name)
		} else if p.name == flag.Arg(0) {
			if err := p.record(*trace); err != nil {
				fmt.Fprintln(os.Stderr, "real:", err)
				os.Exit(1)
			}
			return
		}
	}
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "real: there is no program %q; without a name they are listed\n", flag.Arg(0))
		os.Exit(2)
	}
}

// record runs a program, recorded with the default options if that is asked for.
func (p program) record(trace string) (err error) {
	dir, err := os.MkdirTemp("", "real")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if trace != "" {
		if err := scope.Start(trace, gotrace.With()); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, scope.Stop()) }()
	}
	return p.run(dir)
}

// each runs f on so many goroutines and returns what went wrong.
func each(n int, f func(worker int) error) error {
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = f(i) })
	}
	running.Wait()
	return errors.Join(errs...)
}
