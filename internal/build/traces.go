package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// keptTraces is the maximum number of traces of a program in the cache.
const keptTraces = 10

// Traces returns the default directory for traces of a program.
func (c Cache) Traces(program string) string { return c.path("traces", program) }

// PruneTraces removes the oldest traces of a directory of the cache, and the files beside
// them.
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
