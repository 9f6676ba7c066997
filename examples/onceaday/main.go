// Command onceaday is a server that is slow once a day: of a million requests,
// one. It records into a ring all the time, and keeps what happened before and
// in the slow one, without anybody watching:
//
//	go run ./examples/onceaday
//
// Each request looks something up in a cache. Every so often the cache is
// cleaned; that takes a microsecond per entry, and now and then the cache has
// grown. The slow request alone does not show what the lookup waits for. The
// snapshot has the answer: the lock's holder is in the cleaning.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/scope"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("onceaday", flag.ContinueOnError)
	flags.SetOutput(stderr)
	requests := flags.Int("requests", 1_000_000, "how many requests")
	rate := flags.Int("rate", 100_000, "requests per second")
	slow := flags.Int("slow", 900_000, "the request that is slow")
	limit := flags.Duration("limit", 20*time.Millisecond, "from when on a request is slow")
	ring := flags.Int64("ring", 128<<20, "bytes that are kept of the recording")
	dir := flags.String("dir", "traces", "directory for the recording, and for what is slow")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 || *requests < 1 || *rate < 1 {
		fmt.Fprintln(stderr, "onceaday: flags only; -requests and -rate are at least 1")
		return 2
	}
	kept := filepath.Join(*dir, "slow")
	if err := os.MkdirAll(*dir, 0o700); err != nil {
		fmt.Fprintln(stderr, "onceaday:", err)
		return 1
	}
	if err := scope.Start(*dir, scope.WithRing(*ring), scope.WithTrigger("request", *limit, kept)); err != nil {
		fmt.Fprintln(stderr, "onceaday:", err)
		return 1
	}
	s := newServer(*slow)
	s.serve(*requests, *rate)
	// The snapshot is written in the background; Stop waits for it.
	if err := scope.Stop(); err != nil {
		fmt.Fprintln(stderr, "onceaday:", err)
		return 1
	}
	st := scope.Stats()
	fmt.Fprintf(stdout, "%d requests, the longest took %v; %d were slow, kept in %s\n", *requests, s.longest, st.Slow, kept)
	fmt.Fprintf(stdout, "the recording went on meanwhile: %d records, %d of them overwritten, %d lost\n",
		st.Recorded+st.Overwritten, st.Overwritten, st.Lost.Total())
	return 0
}
