// Command real has ten healthy programs that use three third-party modules, pgzip, badger
// and nats-server, as their documentation shows. make doctor-check records them; a finding
// of scopeview doctor about one is false unless scopeview scale finds room for improvement.
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

// program is one of the programs. It includes the creation of its data, because scale runs
// the whole as well.
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

// record runs a program, recorded with the default options if requested.
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

// each runs f on n goroutines and returns their errors.
func each(n int, f func(worker int) error) error {
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = f(i) })
	}
	running.Wait()
	return errors.Join(errs...)
}
