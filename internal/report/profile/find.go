package profile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// ErrNoFunction means that the data has no such function, or more than one.
var ErrNoFunction = errors.New("function not found")

// FindFunction returns the full name of the function that name denotes: name itself, or the one
// name that ends in it behind a dot or a slash. If there are several, the error lists the first
// ones.
func FindFunction(p *samples.Profile, name string) (string, error) {
	if name == samples.TotalName {
		return name, nil
	}
	var found []string
	for f := range p.Frames() {
		if f.Func == name {
			return name, nil
		}
		if Means(f.Func, name) {
			found = append(found, f.Func)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if len(p.Stacks) == 0 {
			return "", fmt.Errorf("%w: there are no samples and no waits, so none in a function %q", ErrNoFunction, name)
		}
		return "", fmt.Errorf("%w: no sample is in a function %q; scopeview profile lists all functions, and <Total> is the caller of all", ErrNoFunction, name)
	}
	return "", fmt.Errorf("%w: %q may be %s; give more of the name", ErrNoFunction, name, report.First(found, func(s string) string { return s }))
}

// Means reports whether name may denote function: as its full name, or as the end of it behind a
// dot or a slash, with or without the file that distinguishes functions of the same name.
func Means(function, name string) bool {
	whole := function
	if i := strings.LastIndex(function, " ("); i > 0 && strings.HasSuffix(function, ")") && !strings.Contains(name, " (") {
		whole = function[:i]
	}
	for _, f := range []string{whole, strings.TrimSuffix(whole, "[...]")} {
		if f == name || strings.HasSuffix(f, "."+name) || strings.HasSuffix(f, "/"+name) {
			return true
		}
	}
	return false
}

// callersOf finds a function with its callers and callees.
func callersOf(p *samples.Profile, function string) (*callgraph.Callers, error) {
	name, err := FindFunction(p, function)
	if err != nil {
		return nil, err
	}
	return callgraph.CallersOf(p, callgraph.Sum(p, func(f *symbols.Frame) string { return f.Func }), name), nil
}
