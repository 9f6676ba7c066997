//go:build unix

// Command mutants shows what make test would miss. It plants one fault at a time into the
// recorder or the reader, runs the lanes of make test on the packages concerned, and if all
// pass, the lanes that only make test-all has. A fault that only those find names a test that
// make test has to run. See make mutants.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// result is the verdict on one mutant, and the test that failed.
type result struct{ Mutant, Verdict, Killer string }

// The verdicts.
const (
	byShort   = "killed by make test"
	byFull    = "killed by test-all only"
	byNone    = "survived"
	compiling = "does not compile"
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
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	verdicts := map[string]string{}
	var r result
	lines := json.NewDecoder(f)
	for err = lines.Decode(&r); err == nil; err = lines.Decode(&r) {
		verdicts[r.Mutant] = r.Verdict
	}
	if err != io.EOF {
		return fmt.Errorf("%s: %w", path, err)
	}
	counts := map[string]int{}
	for _, m := range mutants {
		name := m.String()
		if verdicts[name] == "" {
			r := result{Mutant: name}
			if r.Verdict, r.Killer, err = m.judge(); err != nil {
				return err
			}
			if err := json.NewEncoder(f).Encode(r); err != nil {
				return err
			}
			verdicts[name] = r.Verdict
			fmt.Printf("%s: %s: %s\n", name, r.Verdict, r.Killer)
		}
		counts[m.pkg+verdicts[name]]++
	}
	for _, pkg := range packages {
		for _, verdict := range []string{byShort, byFull, byNone, compiling} {
			fmt.Printf("%-16s  %3d  %s\n", pkg, counts[pkg+verdict], verdict)
		}
	}
	return nil
}
