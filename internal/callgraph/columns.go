package callgraph

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/samples"
)

// Column is a metric as a view shows it.
type Column struct {
	Inclusive bool
	Metric    int  // index of Profile.Metrics
	Percent   bool // also show its share of <Total>
}

// ParseColumns parses a list of metrics in the syntax of Sun's er_print:
// "e.cpu:i.cpu:i.off%" are the exclusive and the inclusive cpu, and the inclusive off with
// its share. i or e may be both: "ie.cpu". The empty list means the defaults.
func ParseColumns(p *samples.Profile, text string) (list []Column, err error) {
	if text == "" {
		return preset(p), nil
	}
	for _, word := range strings.Split(text, ":") {
		flavors, name, ok := strings.Cut(word, ".")
		name, percent := strings.CutSuffix(name, "%")
		if !ok || flavors == "" || strings.Trim(flavors, "ei") != "" {
			return nil, fmt.Errorf("%q is no metric: write e.NAME for the exclusive one, i.NAME for the inclusive one, several as e.cpu:i.cpu:i.off%%; there is %s", word, names(p))
		}
		m := p.Metric(name)
		if m < 0 {
			return nil, fmt.Errorf("there is no metric %q here: there is %s", name, names(p))
		}
		for _, f := range flavors {
			list = append(list, Column{f == 'i', m, percent})
		}
	}
	return list, nil
}

// names lists the metrics.
func names(p *samples.Profile) string {
	var list []string
	for i := range p.Metrics {
		list = append(list, p.Metrics[i].Name)
	}
	return strings.Join(list, ", ")
}

// preset returns the default columns: the first metric and, if there are waits, all waits.
func preset(p *samples.Profile) []Column {
	m := p.Metric(p.Preset)
	if m < 0 {
		return nil
	}
	list := []Column{{false, m, true}, {true, m, true}}
	if off := p.Metric("off"); off >= 0 && off != m && p.Value(p.Total(), off) > 0 {
		list = append(list, Column{false, off, false}, Column{true, off, false})
	}
	return list
}
