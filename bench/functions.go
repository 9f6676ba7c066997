package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// functionRows measures a program with all functions as scopes.
func functionRows(b *bench) []row {
	const name = "functions"
	bin := filepath.Join(b.dir, "functions")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/scopeview/scopeview/bench/functions").CombinedOutput(); err != nil {
		return []row{broken(name, fmt.Errorf("%w: %s", err, out))}
	}
	out, err := exec.Command(bin, "calls", b.dir).Output()
	var c struct{ Empty, Stopped, Recorded, Counted, Hidden, Share float64 }
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	if err != nil {
		return []row{broken(name, err)}
	}
	recorded := row{name: "a call that is recorded", value: quantity{c.Recorded, "ns"}}
	if c.Share < 0.99 {
		recorded.fault = fmt.Sprintf("only %.0f %% of the calls were recorded", 100*c.Share)
	}
	return []row{
		over("a call, not recording", c.Stopped, c.Empty, c.Stopped-c.Empty, 0.5, 1),
		recorded,
		over("a call that is counted only", c.Counted, c.Empty, c.Counted-c.Empty, 2.5, 3),
		over("a call of a function that is called too often to count", c.Hidden, c.Empty, c.Hidden-c.Empty, 0.7, 1.5),
		b.budgetRow(bin),
	}
}

// budgetRow compares the CPU time of ten million calls a second with that of the same work
// without calls, by the CPU times of whole processes that alternate.
func (b *bench) budgetRow(bin string) row {
	const name = "CPU time more at 10 M calls a second"
	rounds := 9
	if b.short {
		rounds = 3
	}
	var more []float64
	for i := range rounds {
		var ns [2]float64
		for j, what := range []string{"bare", "works"} {
			cmd := exec.Command(bin, what)
			if j == 1 {
				cmd.Env = append(os.Environ(), "SCOPEVIEW="+filepath.Join(b.dir, fmt.Sprint("budget", i, ".scope")), "SCOPEVIEW_STATES=0")
			}
			out, err := cmd.Output()
			if err == nil {
				ns[j], err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			}
			if err != nil {
				return broken(name, err)
			}
		}
		more = append(more, 100*(ns[1]/ns[0]-1))
	}
	slices.Sort(more)
	q := quantity{more[rounds/2], "%"}
	return row{name: name, value: q, judge: quantity{max(q.v, 0), "%"}, goal: 2, must: 3,
		note: fmt.Sprintf("the median of %d, from %.1f to %.1f %%", rounds, more[0], more[rounds-1])}
}
