// Command bulk writes a large trace with known content, for trying scopeview with it:
//
//	go run ./bulk -n 30000000 -shape irregular -o big.scope
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/scopeview/scopeview/internal/testing/bulk"
)

func main() {
	var (
		n      = flag.Int64("n", 1_000_000, "how many scopes")
		shape  = flag.String("shape", string(bulk.Irregular), fmt.Sprint("what they are like, one of ", bulk.Shapes))
		seed   = flag.Uint64("seed", 1, "another number gives other noise")
		output = flag.String("o", "big.scope", "the `file`")
	)
	flag.Parse()
	if err := run(*n, *shape, *seed, *output); err != nil {
		fmt.Fprintln(os.Stderr, "bulk:", err)
		os.Exit(1)
	}
}

func run(n int64, shape string, seed uint64, output string) error {
	f, err := os.Create(output)
	if err != nil {
		return err
	}
	begin := time.Now()
	size, err := bulk.Trace{Shape: bulk.Shape(shape), Scopes: n, Seed: seed}.Write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(output)
		return err
	}
	took := time.Since(begin)
	fmt.Fprintf(os.Stderr, "%s: %d scopes in %d bytes, %v, %.1f M scopes/s\n", output, n, size, took.Round(time.Millisecond), float64(n)/took.Seconds()/1e6)
	return nil
}
