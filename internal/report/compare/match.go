package compare

import (
	"maps"
	"regexp"
	"slices"

	"github.com/scopeview/scopeview/internal/report"
)

// found is the rows of the runs under one name.
type found struct {
	name, kind string
	rows       []*report.Row // by run, first A's; nil: the run has none
	exact      bool          // its name has no numbers that differ between builds
}

// numbers matches the numbers in names that differ between builds or runs: of lines and addresses.
var numbers = regexp.MustCompile(`:\d+\b|\b0x[0-9a-fA-F]+\b`)

// key matches rows. number distinguishes rows of a run that have the same name.
type key struct {
	kind, name string
	number     int
}

// match groups the rows of all runs, of which the first na are A's, by name. Names that only one
// side has are matched without their numbers, unless a run has two such names.
func match(runs []Run, na int) []*found {
	byKey := map[key]*found{}
	var list []*found
	for i, r := range runs {
		times := map[key]int{}
		for k := range r.Rows {
			row := &r.Rows[k]
			at := key{row.Kind, row.Name, 0}
			times[at]++
			at.number = times[at]
			f := byKey[at]
			if f == nil {
				f = &found{row.Name, row.Kind, make([]*report.Row, len(runs)), row.Code != ""}
				byKey[at] = f
				list = append(list, f)
			}
			f.rows[i] = row
		}
	}
	return renamed(list, na)
}

// renamed joins rows whose names differ only in their numbers.
func renamed(list []*found, na int) []*found {
	groups := map[key][]*found{}
	for _, f := range list {
		if name := numbers.ReplaceAllString(f.name, ""); name != f.name && !f.exact && !(f.in(0, na) && f.in(na, len(f.rows))) {
			groups[key{f.kind, name, 0}] = append(groups[key{f.kind, name, 0}], f)
		}
	}
	into := map[*found]*found{}
	for _, g := range groups {
		if unique(g) {
			for _, f := range g {
				into[f] = g[0]
			}
		}
	}
	var kept []*found
	for _, f := range list {
		to := into[f]
		if to == nil || to == f {
			kept = append(kept, f)
			continue
		}
		for i, row := range f.rows {
			if row != nil {
				to.rows[i] = row
			}
		}
	}
	return kept
}

// unique reports whether each run has at most one row of a group.
func unique(g []*found) bool {
	for i := range g[0].rows {
		n := 0
		for _, f := range g {
			if f.rows[i] != nil {
				n++
			}
		}
		if n > 1 {
			return false
		}
	}
	return true
}

// in reports whether one of the runs i to j-1 has a row.
func (f *found) in(i, j int) bool {
	for _, row := range f.rows[i:j] {
		if row != nil {
			return true
		}
	}
	return false
}

// sameCode returns the runs without the instructions of functions whose code is not the same in all
// runs that have them: those instructions can't be matched.
func sameCode(runs []Run) []Run {
	code := map[string]string{}
	other := map[string]bool{}
	for _, run := range runs {
		for _, r := range run.Rows {
			if had, ok := code[r.Function]; ok && had != r.Code {
				other[r.Function] = true
			}
			code[r.Function] = r.Code
		}
	}
	if len(other) == 0 {
		return runs
	}
	note := "the code of " + report.First(slices.Sorted(maps.Keys(other)), func(name string) string { return name }) +
		" is not the same in all runs, so instructions can't be matched: only the functions are compared"
	for i := range runs {
		f := *runs[i].Figures
		f.Rows = slices.DeleteFunc(slices.Clone(f.Rows), func(r report.Row) bool { return other[r.Function] })
		f.Notes = append([]string{note}, f.Notes...)
		runs[i].Figures = &f
	}
	return runs
}
