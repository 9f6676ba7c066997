package pgo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/samples"
)

// fileOf returns the file that a location is in; "": not known.
func fileOf(l *profile.Location) string {
	if l == nil || l.Mapping == nil {
		return ""
	}
	return l.Mapping.File
}

// executables returns the files that have Go code.
func executables(q *profile.Profile) map[string]bool {
	of := map[string]bool{}
	if len(q.Mapping) < 2 {
		return of
	}
	for _, l := range q.Location {
		for _, line := range l.Line {
			if strings.HasSuffix(line.Function.Filename, ".go") {
				of[fileOf(l)] = true
			}
		}
	}
	return of
}

// choose returns a function that reports whether two locations are of the given executable; "" is
// the only executable of the profile.
func choose(q *profile.Profile, executable string) (func(leaf, caller *profile.Location) bool, error) {
	all := executables(q)
	if len(all) < 2 {
		return func(_, _ *profile.Location) bool { return true }, nil
	}
	list := slices.Sorted(maps.Keys(all))
	fits := func(file string) bool {
		return executable != "" && (file == executable || strings.HasSuffix(file, "/"+executable))
	}
	found := slices.DeleteFunc(slices.Clone(list), func(file string) bool { return !fits(file) })
	if all[executable] {
		found = []string{executable}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%w: %s", samples.ErrExecutables, strings.Join(list, ", "))
	}
	return func(leaf, caller *profile.Location) bool {
		file := fileOf(leaf)
		if !all[file] { // the callee is a library's function, or the kernel
			file = fileOf(caller)
		}
		return file == found[0]
	}, nil
}
