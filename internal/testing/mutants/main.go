//go:build unix

// Command mutants shows what make test would miss. It plants faults into the recorder and the
// reader, and runs the quick tests of the packages concerned; with the faults that these don't
// find, the lanes that only make test-all has; and with what those find, the lanes of make test.
// What most tests find is tried alone; what is left is tried together, and halved until each
// fault that a lane finds is alone. A fault that only test-all finds names a test that make test
// has to run. See make mutants.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	n := flag.Int("n", 200, "how many mutants there are")
	seed := flag.Uint64("seed", 1, "chooses them")
	dir := flag.String("dir", ".", "holds the results: another run goes on behind them")
	flag.Parse()
	if err := run(*n, *seed, filepath.Join(*dir, "results.json")); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(n int, seed uint64, path string) error {
	mutants, err := choose(n, seed)
	if err != nil {
		return err
	}
	b, err := openBook(path)
	if err != nil {
		return err
	}
	defer b.f.Close()
	for _, l := range lanes {
		if err := b.try(l, mutants); err != nil {
			return err
		}
	}
	counts := map[string]int{}
	for _, m := range mutants {
		verdict := b.verdicts[m.String()]
		if verdict == "" && b.suspects[m.String()] != "" {
			verdict = byFull
			fmt.Printf("%s: %s\n", m, verdict)
		}
		if verdict == "" {
			verdict = byNone
			fmt.Printf("%s: %s\n", m, verdict)
		}
		counts[m.pkg+verdict]++
	}
	for _, pkg := range packages {
		for _, verdict := range []string{byShort, byFull, byNone, compiling} {
			fmt.Printf("%-16s  %3d  %s\n", pkg, counts[pkg+verdict], verdict)
		}
	}
	return nil
}
