package build

import (
	"fmt"
	"os"
	"strings"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/pgo"
)

// What is taken for a call's cost: of its record, with what is written to disk; and of a node of
// the compiler's syntax tree, of which the estimate of inlining counts one for most operations.
const (
	recordNS = 60
	nodeNS   = 0.5
)

// profile is a profile's share of CPU time of each function by itself, by the linker's name. What
// is inlined into a function is that function's.
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
		place := p.Places[pair.Leaf]
		shares[place[len(place)-1].Func] += float64(weight) / float64(max(all, 1))
	}
	return shares, nil
}

// hot reports whether recording each call of a function would take more than a share of the CPU
// time. A profile does not count calls. A call without loops takes no longer than its parts,
// so the function is called at least as often as its time has room for such calls.
func (p profile) hot(linker string, f *instrument.Func, share float64) bool {
	if f.Why != "" || f.Loops || f.Cost >= instrument.Never || f.Cost <= 0 {
		return false
	}
	return p[linker]*recordNS/(float64(f.Cost)*nodeNS) > share
}

// linkerName is what the linker, and so a profile, calls a function of a package.
func linkerName(e *editing, name string) string {
	if e.Name == "main" {
		return name
	}
	_, rest, _ := strings.Cut(name, ".")
	return e.ImportPath + "." + rest
}
