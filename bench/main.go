// Command bench measures the cost of scopeview, as multiples of a floor below which no
// tracer of scopes can be (see package floor), with every record kept, and that of other
// tracers. It prints one table and exits 1 when a must is missed.
//
//	go run .              everything, some minutes
//	go run . -short       less of everything, for a first look
//	go run . -o results/  also write the table to results/<date>-<machine>.txt
//	go run . -base v1.0   only the hot path, in turn with that of another revision;
//	                      exits 1 when a row got worse (see compare.go)
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// group is a part of the table. A failed measurement becomes a row with a problem.
type group struct {
	name    string
	measure func(*bench) []row
}

var groups = []group{
	{"a scope on the hot path", hotRows},
	{"the same built otherwise", builtRows},
	{"not recording", idleRows},
	{"heap allocations per scope", allocRows},
	{"several goroutines", parallelRows},
	{"what is lost", lossRows},
	{"peers, an empty scope", peerRows},
	{"volume", volumeRows},
	{"thread CPU time", qualityRows},
	{"functions that are scopes", functionRows},
	{"around the scopes", aroundRows},
	{"requests and logs", requestRows},
	{"stacks", stackRows},
	{"locks", lockRows},
	{"the scheduler", schedRows},
	{"samples", samplingRows},
	{"profiles for the compiler", pgoRows},
	{"profiles of a large program", pgoSizeRows},
	{"an unchanged program", ordinaryRows},
	{"building it", launchRows},
	{"reading 10 M records", readingRows},
	{"reading 30 M scopes, on all CPUs", bigRows},
	{"20 traces of 10 M scopes as one, on all CPUs", mergedRows},
}

// bench has the parameters of the measurements.
type bench struct {
	dir    string // for traces; each is removed after its measurement
	cpus   []int  // CPUs to which a slice may be pinned
	short  bool
	rounds int // number of rounds for medians
	log    io.Writer
}

func main() {
	var (
		b      = bench{log: os.Stderr}
		only   = flag.String("run", "", "measure only the groups whose name matches this `regexp`")
		output = flag.String("o", "", "also write the table to this `file`, or to one named by date and machine in this directory")
		base   = flag.String("base", "", "compare the hot path with that of this git `revision`")
		child  = flag.Bool("child", false, "measure one build and print it as JSON; for the harness itself")
	)
	flag.StringVar(&b.dir, "dir", "", "write traces below this `directory` (default: the system's for temporary files)")
	flag.BoolVar(&b.short, "short", false, "measure less: fewer rounds, smaller volumes")
	flag.Parse()
	if err := b.run(*only, *output, *base, *child); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(only, output, base string, child bool) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	b.rounds = 5
	if b.short {
		b.rounds = 3
	}
	dir, err := os.MkdirTemp(b.dir, "scopeview-bench-")
	if err != nil {
		return fmt.Errorf("no directory for traces: %w", err)
	}
	defer os.RemoveAll(dir)
	b.dir, b.cpus = dir, usableCPUs()
	switch {
	case child:
		return b.printChild(os.Stdout)
	case base != "":
		return b.compare(base, match, output)
	}

	t := table{machine: machine(dir), when: time.Now(), short: b.short}
	for _, g := range groups {
		if !match.MatchString(g.name) {
			continue
		}
		fmt.Fprintln(b.log, "measuring:", g.name)
		t.add(g.name, g.measure(b))
	}
	if err := t.print(os.Stdout); err != nil {
		return err
	}
	if output != "" {
		if err := saved(output, "", t.when, t.machine, t.print); err != nil {
			return err
		}
	}
	if n := t.missed(); n > 0 {
		return fmt.Errorf("%d of the musts are missed", n)
	}
	return nil
}
