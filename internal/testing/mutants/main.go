// Command mutants shows what make test would miss. It plants one fault at a time into the
// recorder or the reader, runs the lanes of make test on the packages concerned, and if all
// pass, the lanes that only make test-all has. A fault that only those find names a test that
// make test has to run.
//
// The faults depend on the seed and the sources alone. The directory holds a line of JSON for
// each fault that was tried, so that another run goes on behind it. See make mutants.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// result is the verdict on one mutant.
type result struct{ Mutant, Verdict, Killer string }

const (
	byShort   = "killed by make test"
	byFull    = "killed by make test-all only"
	byNone    = "survived"
	compiling = "does not compile"
)

func main() {
	n := flag.Int("n", 200, "how many mutants there are")
	seed := flag.Uint64("seed", 1, "chooses them")
	dir := flag.String("dir", ".", "holds the results")
	most := flag.Int("most", 1<<30, "end after so many that had no result")
	flag.Parse()
	if err := run(*n, *seed, filepath.Join(*dir, "results.json"), *most); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(n int, seed uint64, path string, most int) error {
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
	for lines := json.NewDecoder(f); ; {
		var r result
		if err := lines.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		verdicts[r.Mutant] = r.Verdict
	}
	counts := map[string]map[string]int{} // by package and verdict
	for _, m := range mutants {
		name := m.String()
		if verdicts[name] == "" && most > 0 {
			most--
			verdict, killer, err := m.judge()
			if err != nil {
				return err
			}
			verdicts[name] = verdict
			if err := json.NewEncoder(f).Encode(result{name, verdict, killer}); err != nil {
				return err
			}
			fmt.Printf("%s: %s: %s\n", name, verdict, killer)
		}
		if counts[m.pkg] == nil {
			counts[m.pkg] = map[string]int{}
		}
		counts[m.pkg][verdicts[name]]++
	}
	fmt.Printf("%-16s  %s | %s | %s | %s | not tried\n", "", byShort, byFull, byNone, compiling)
	for _, pkg := range packages {
		c := counts[pkg]
		fmt.Printf("%-16s  %19d | %28d | %8d | %16d | %9d\n", pkg, c[byShort], c[byFull], c[byNone], c[compiling], c[""])
	}
	return nil
}
