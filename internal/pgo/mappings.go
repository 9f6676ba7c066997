package pgo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/samples"
)

// mapping parses which file was mapped.
func (d *decoder) mapping(m message) error {
	var id uint64
	var file int64
	for len(m) > 0 {
		number, n, _, err := m.field()
		if err != nil {
			return err
		}
		switch number {
		case 1:
			id = n
		case 5:
			file = int64(n)
		}
	}
	d.mappings[id] = file
	return nil
}

// file returns the file that a location is in; "": unknown.
func (d *decoder) file(location uint64) (string, error) {
	return d.text(d.mappings[d.locations[location].mapping])
}

// executables returns the files that have Go code.
func (d *decoder) executables() (map[string]bool, error) {
	of := map[string]bool{}
	if len(d.mappings) < 2 {
		return of, nil
	}
	for id, l := range d.locations {
		for _, line := range l.lines {
			source, err := d.text(d.functions[line.function].file)
			if err != nil {
				return nil, err
			}
			if !strings.HasSuffix(source, ".go") {
				continue
			}
			file, err := d.file(id)
			if err != nil {
				return nil, err
			}
			of[file] = true
		}
	}
	return of, nil
}

// choose returns a function that reports whether a pair of locations is of the wanted
// executable; "" stands for the only one.
func (d *decoder) choose(executable string) (func(rawPair) bool, error) {
	all, err := d.executables()
	if err != nil || len(all) < 2 {
		return func(rawPair) bool { return true }, err
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
	return func(p rawPair) bool {
		leaf, _ := d.file(p.leaf)
		if !all[leaf] { // a library's function, or the kernel, was called
			leaf, _ = d.file(p.caller)
		}
		return leaf == found[0]
	}, nil
}
