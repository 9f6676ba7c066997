package advice

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Counted are the parameters of the program that counts; it reads them from its environment.
var Counted = []string{"depth", "memory", "share"}

// Set sets a parameter by its name in a .conf file; those in Counted are ignored. "off.NAME
// = 1" disables a diagnostic or a group, "weight.NAME = 1.5" sets a weight.
func (p *Params) Set(name, value string) error {
	n, err := strconv.ParseFloat(value, 64)
	bad := func(what string) error {
		if err != nil || n < 0 {
			return fmt.Errorf("%s = %s: write %s", name, value, what)
		}
		return nil
	}
	switch kind, what, _ := strings.Cut(name, "."); {
	case slices.Contains(Counted, name):
		return nil
	case name == "count":
		p.Count = int(n)
		return bad("the number of pieces of advice to show; 0: all")
	case name == "least_ns":
		p.LeastNS = n
		return bad("a time in ns")
	case name == "least_share":
		p.LeastShare = n
		return bad("a share of the time, as 0.001")
	case name == "least_bytes":
		p.LeastBytes = n
		return bad("a number of bytes")
	case kind == "off":
		if !known(what) {
			return fmt.Errorf("%s: unknown diagnostic or group; scopeview advise --list lists them", name)
		}
		p.Off[what] = n != 0
		return bad("0 or 1")
	case kind == "weight":
		if _, ok := p.Weights[what]; !ok {
			return fmt.Errorf("%s: unknown weight; scopeview calibrate lists them", name)
		}
		p.Weights[what] = n
		return bad("the cost of the operation in ns")
	}
	return fmt.Errorf("%s: unknown parameter; the .conf.out file has them all", name)
}

// known reports whether a name is that of a diagnostic or a group.
func known(name string) bool {
	return slices.ContainsFunc(Rules, func(r Rule) bool { return r.ID == name || r.Group == name || r.Original != "" && r.Original == name })
}

// SetAll applies a .conf file, and returns the parameters in Counted, for the program's
// environment.
func (p *Params) SetAll(text string) (counted map[string]string, err error) {
	counted = map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return nil, fmt.Errorf("line %d: %q has no =", i+1, line)
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if err := p.Set(name, value); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if slices.Contains(Counted, name) {
			counted[name] = value
		}
	}
	return counted, nil
}

// Conf returns the parameters as a .conf file: those that d was counted with, and these.
func (p *Params) Conf(d *Data) string {
	var b strings.Builder
	b.WriteString("# The parameters used. To change some, edit this file and rename it so that it ends with .conf.\n")
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		fmt.Fprintf(&b, "%s = %s\n", name, d.Params[name])
	}
	fmt.Fprintf(&b, "count = %d\nleast_ns = %g\nleast_share = %g\nleast_bytes = %g\n", p.Count, p.LeastNS, p.LeastShare, p.LeastBytes)
	for _, r := range Rules {
		off := 0
		if p.off(&r) {
			off = 1
		}
		fmt.Fprintf(&b, "off.%s = %d\n", r.ID, off)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Weights)) {
		fmt.Fprintf(&b, "weight.%s = %g\n", name, p.Weights[name])
	}
	return b.String()
}
