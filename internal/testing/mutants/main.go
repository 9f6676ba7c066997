//go:build unix

// Command mutants shows what make test would miss. It plants faults into the recorder and the
// reader, runs the lanes of make test on the packages concerned, and with those that no lane
// finds, the lanes that only make test-all has. What most tests find is tried alone; what is
// left is tried together, and halved until each fault that a lane finds is alone. A fault that
// only test-all finds names a test that make test has to run. See make mutants.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// result records that a lane killed a mutant, by the test named, or without a verdict that it did not.
type result struct{ Mutant, Lane, Verdict, Killer string }

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
	results := map[string]result{} // the last of each mutant
	passed := map[[2]string]bool{} // mutants and lanes
	note := func(r result) {
		results[r.Mutant] = r
		passed[[2]string{r.Mutant, r.Lane}] = r.Verdict == ""
	}
	lines := json.NewDecoder(f)
	var r result
	for err = lines.Decode(&r); err == nil; err = lines.Decode(&r) {
		note(r)
		r = result{}
	}
	if err != io.EOF {
		return fmt.Errorf("%s: %w", path, err)
	}
	keep := func(r result) error {
		note(r)
		return json.NewEncoder(f).Encode(r)
	}
	for _, l := range lanes {
		var todo []mutant
		for _, m := range mutants {
			if name := m.String(); results[name].Verdict == "" && !passed[[2]string{name, l.name}] {
				todo = append(todo, m)
			}
		}
		for _, group := range l.groups(todo) {
			alive, err := l.sift(group, func(m mutant, killer string) error {
				fmt.Printf("%s: %s: %s\n", m, l.verdict, killer)
				return keep(result{m.String(), l.name, l.verdict, killer})
			})
			if err != nil {
				return err
			}
			for _, m := range alive {
				if err := keep(result{Mutant: m.String(), Lane: l.name}); err != nil {
					return err
				}
			}
		}
	}
	counts := map[string]int{}
	for _, m := range mutants {
		verdict := results[m.String()].Verdict
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
