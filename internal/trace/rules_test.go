package trace_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestGoldensBreakRules checks that every rule of the format has a golden that breaks it and no
// other, with the reader's output for that defect.
func TestGoldensBreakRules(t *testing.T) {
	broken := map[string][]string{} // by rule: the goldens that break it alone
	for _, g := range goldens(t) {
		data := g.bytes(t)
		findings, err := trace.Verify(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			continue // it does not open, as described
		}
		var rules []string
		for _, f := range findings {
			rules = append(rules, f.Rule)
		}
		slices.Sort(rules)
		if rules = slices.Compact(rules); len(rules) == 1 {
			broken[rules[0]] = append(broken[rules[0]], g.name)
		}
	}
	for _, r := range trace.Rules {
		if len(broken[r.Name]) == 0 {
			t.Errorf("no golden breaks %s and nothing else: %s", r.Name, r.Doc)
		}
	}
}

// TestEveryBlockIsTaken checks that the reader decodes every row of the table of block types.
func TestEveryBlockIsTaken(t *testing.T) {
	for _, s := range format.Blocks[1:] {
		if !trace.Takes(s.Type) {
			t.Errorf("nothing takes in a %s block", s.Name)
		}
	}
}
