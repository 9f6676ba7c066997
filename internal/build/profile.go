package build

import (
	"fmt"
	"os"
	"strings"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/pgo"
)

// Assumed costs: of a record, with writing it to disk; and of a node of the compiler's
// syntax tree, one of which the inlining estimate counts for most operations.
const (
	recordNS = 60
	nodeNS   = 0.5
)

// profile has each function's own share of CPU time, by the linker's name, including
// functions inlined into it.
type profile map[string]float64

func readProfile(path string) (profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := pgo.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	all, err := p.Total()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	shares := profile{}
	for pair, weight := range p.Weight {
		at := p.Locations[pair.Leaf]
		shares[at[len(at)-1].Func] += float64(weight) / float64(max(all, 1))
	}
	return shares, nil
}

// hot reports whether recording each call of a function would take more than a share of the
// CPU time. A profile does not count calls. A call without loops takes no longer than the
// sum of its parts, which gives a lower bound of the number of calls.
func (p profile) hot(linker string, f *instrument.Func, share float64) bool {
	if f.Why != "" || f.Loops || f.Cost >= instrument.Never || f.Cost <= 0 {
		return false
	}
	return p[linker]*recordNS/(float64(f.Cost)*nodeNS) > share
}

// linkerName returns the linker's name of a function, which profiles use.
func linkerName(e *editing, name string) string {
	if e.Name == "main" {
		return name
	}
	_, rest, _ := strings.Cut(name, ".")
	return e.ImportPath + "." + rest
}
