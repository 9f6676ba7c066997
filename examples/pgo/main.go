// Command pgo is a program that a profile makes faster: it sums up a server's log. It records
// itself into a ring, as a server in the field does, and what it was busy with becomes the
// profile that its next build is made with:
//
//	go build -o before ./examples/pgo
//	./before -trace traces/
//	scopeview pgo collect traces/ -o default.pgo
//	scopeview pgo ab --pgo default.pgo ./examples/pgo
//	go build -pgo default.pgo -o after ./examples/pgo
//
// Without a profile, parse is more than the compiler inlines, so each line's entry is on the
// heap. With one it is inlined, and the heap is not needed. There is no default.pgo beside
// this file: go build would take it without being asked.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("pgo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	times := flags.Int("n", 1000, "sum up the log so many `times`")
	trace := flags.String("trace", "", "record into a new ring in this `directory`")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 || *times < 1 {
		fmt.Fprintln(stderr, "pgo: flags only; -n is at least 1")
		return 2
	}
	if err := work(*times, *trace, stdout); err != nil {
		fmt.Fprintln(stderr, "pgo:", err)
		return 1
	}
	return 0
}

// ring is the size of the ring that keeps the latest part of a recording.
const ring = 32 << 20

// work sums up a log n times, and records that if there is a directory for it.
func work(times int, trace string, stdout io.Writer) (err error) {
	if trace != "" {
		if err := os.MkdirAll(trace, 0o700); err != nil {
			return fmt.Errorf("the directory for the recording can't be made: %w", err)
		}
		if err := scope.Start(trace, scope.WithRing(ring), gotrace.With()); err != nil {
			return fmt.Errorf("recording can't start: %w", err)
		}
		defer func() { err = errors.Join(err, scope.Stop()) }()
	}
	lines, sum := logOf(20_000), crc32.NewIEEE()
	for range times {
		all := totals{}
		if err := all.add(&text{lines}); err != nil {
			return err
		}
		all.print(sum)
	}
	_, err = fmt.Fprintf(stdout, "%d times, checksum %08x\n", times, sum.Sum32())
	return err
}

// logOf generates a log.
func logOf(lines int) []byte {
	var b bytes.Buffer
	x := uint32(1)
	for range lines {
		x = x*1664525 + 1013904223
		status := 200
		if x>>28 == 7 {
			status = 500
		}
		fmt.Fprintf(&b, "/shop/%d/item/%d %d %d %d agent-%d (X11; Linux x86_64)\n", x>>28, x>>24&3, status, x>>14&0xffff, x>>10&0xfff, x>>30)
	}
	return b.Bytes()
}
