package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// keptTraces is how many traces of a program stay in the cache.
const keptTraces = 10

// Traces is where traces of a program go that are given no other place.
func (c Cache) Traces(program string) string { return c.path("traces", program) }

// PruneTraces removes the oldest traces of a directory of the cache, and what lies beside them.
func (c Cache) PruneTraces(dir string) {
	if !within(dir, c.path("traces")) {
		return
	}
	list, err := filepath.Glob(filepath.Join(dir, "*.scope"))
	if err != nil || len(list) < keptTraces {
		return
	}
	slices.SortFunc(list, func(a, b string) int { return int(stat(a).Time - stat(b).Time) })
	for _, path := range list[:len(list)-keptTraces+1] {
		if more, err := filepath.Glob(strings.TrimSuffix(path, ".scope") + "[.]*"); err == nil {
			for _, p := range more {
				os.Remove(p)
			}
		}
	}
}
