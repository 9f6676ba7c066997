// Command doctor has the problems that scopeview doctor knows, one at a time, as
// small programs: a queue, a cache, a pipeline. How bad it is can be set, and each
// has a twin that does the same work without the problem:
//
//	go run ./examples/doctor -strength 1 -trace lock.scope lock-contention
//	scopeview doctor lock.scope
//	go run ./examples/doctor -strength 1 -mended lock-contention
//
// So what the doctor should say is known, and whether it pays to listen to it. The
// programs that are called healthy have none of the problems. All of them are made
// for two processors, and use two on a larger machine too.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// processors is the number of processors for which the programs are designed.
const processors = 2

// program is one example. Its data are created first, and neither recorded nor measured; the
// result of work depends on the program only.
type program struct {
	name    string
	prepare func(o options) (work func() uint64)
}

var programs = []program{
	{"lock-contention", lockContention},
	{"fat-critical-section", fatCriticalSection},
	{"serialization", serialization},
	{"work-inflation", workInflation},
	{"memory-bandwidth", memoryBandwidth},
	{"load-imbalance", loadImbalance},
	{"too-fine", tooFine},
	{"oversubscription", oversubscription},
	{"not-enough-parallelism", notEnoughParallelism},
	{"gc", garbage},
	{"channel", channel},
	{"convoy", convoy},
	{"spinning", spinning},
	{"page-faults", pageFaults},
	{"blocking-under-lock", blockingUnderLock},
	{"healthy-map", healthyMap},
	{"healthy-pipeline", healthyPipeline},
	{"healthy-server", healthyServer},
	{"healthy-batch", healthyBatch},
}

// options are the parameters of a program.
type options struct {
	strength float64 // of its problem, 0 to 1; 0 if mended
	mended   bool
	size     float64 // of the work: 1 takes about half a second without the problem
	workers  int     // of a shape
	trace    string
	plain    bool // record as for a shape: with the default options
}

func run(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Float64Var(&o.strength, "strength", 1, "how strong the problem is, from 0 to 1")
	flags.BoolVar(&o.mended, "mended", false, "do the same work without the problem")
	flags.Float64Var(&o.size, "size", 1, "how much to do; 1 takes half a second or so where there is no problem")
	flags.IntVar(&o.workers, "workers", 4, "how many workers those have that are in the second list")
	flags.StringVar(&o.trace, "trace", "", "record into this trace `file`, or into a new one in this directory")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: doctor [flags] PROGRAM, which is one of")
		for _, p := range programs {
			fmt.Fprintln(stderr, "  ", p.name)
		}
		fmt.Fprintln(stderr, "or, as people write them,")
		for _, s := range shapes {
			fmt.Fprintf(stderr, "   %-14s %s\n", s.name, s.problem)
		}
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() != 1 || !(o.strength >= 0 && o.strength <= 1) || !(o.size > 0 && o.size <= 1000) || o.workers < 1 || o.workers > 1000 {
		fmt.Fprintln(stderr, "doctor: name one program, after the flags; -strength is from 0 to 1, -size above 0 and at most 1000, -workers too; -h lists the programs")
		return 2
	}
	all := slices.Clone(programs)
	for _, s := range shapes {
		all = append(all, s.program)
	}
	for i, p := range all {
		if p.name == flags.Arg(0) {
			o.plain = i >= len(programs)
			if err := p.run(o, stdout); err != nil {
				fmt.Fprintln(stderr, "doctor:", err)
				return 1
			}
			return 0
		}
	}
	fmt.Fprintf(stderr, "doctor: there is no program %q; -h lists them\n", flags.Arg(0))
	return 2
}

// run does a program's work, recorded if requested, and prints its duration and its result.
func (p program) run(o options, stdout io.Writer) (err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	work := p.prepare(o)
	runtime.GC() // the garbage of prepare does not belong to the program
	if o.trace != "" {
		with := []scope.Option{gotrace.With()}
		// All holds of locks are recorded, not only those that others waited for: their
		// durations show the problem.
		if !o.plain {
			with = append(with, scope.WithLockThreshold(scope.LocksAll))
		}
		if err := scope.Start(o.trace, with...); err != nil {
			return fmt.Errorf("recording can't start: %w", err)
		}
		defer func() { err = errors.Join(err, scope.Stop()) }()
	}
	begin := time.Now()
	sum := work()
	_, err = fmt.Fprintf(stdout, "%s: %.6f s, checksum %016x\n", p.name, time.Since(begin).Seconds(), sum)
	return err
}

// part returns the part of n affected by a problem of this strength.
func (o options) part(n int) int {
	if o.mended {
		return 0
	}
	return int(o.strength * float64(n))
}

// many returns the number of things for the size of the run, of which a run of size 1 has n.
func (o options) many(n int) int { return max(1, int(o.size*float64(n))) }

// inParallel runs f on n goroutines, a row in the trace each, and waits for them.
func inParallel(n int, f func(worker int)) {
	var running sync.WaitGroup
	for i := range n {
		running.Add(1)
		scope.Go(fmt.Sprint("worker ", i+1), func() {
			defer running.Done()
			f(i)
		})
	}
	running.Wait()
}

// digest is the main work of most programs: about a nanosecond of computing per byte, on
// data in the cache.
func digest(sum uint64, document string) uint64 {
	for i := range len(document) {
		sum = (sum ^ uint64(document[i])) * 0x100000001b3
	}
	return sum
}

// page returns a document of n bytes.
func page(n int) string {
	return strings.Repeat("the quick brown fox jumps over the lazy dog. ", n/45+1)[:n]
}
