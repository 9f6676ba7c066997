package advice

import (
	"math"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// accesses returns a row of a kind with values.
func accesses(k row.Kind, v map[row.Value]int64) *Row {
	r := &Row{Row: row.Row{Kind: k, Stack: []string{"main.f /src/p/f.go:7"}}, Runs: 1, NS: 1e9}
	for i, n := range v {
		r.Stats.V[i] = n
	}
	return r
}

// TestMemoryRules checks each rule on loads and stores: no advice, or the saving.
func TestMemoryRules(t *testing.T) {
	w := BuiltIn()
	padding := map[row.Value]int64{row.Gets: 1e6, row.Puts: 1e6, row.Misses: 1e6, row.MaxLen: 2, row.MaxCap: 2}
	shared := map[row.Value]int64{row.Puts: 2e6, row.Misses: 3e5, row.Contended: 5e5, row.Shared: 19e5, row.Waits: 8e5, row.MaxLen: 2, row.MaxCap: 2}
	pointed := map[row.Value]int64{row.Made: 1e6, row.Gets: 1e6, row.Steps: 1e6, row.Probes: 9e5, row.Pointed: 8e5, row.MaxLen: 1 << 20}
	chased := map[row.Value]int64{row.Made: 1e6, row.Gets: 1e6, row.Steps: 1e6, row.Probes: 9e5, row.Chased: 8e5, row.MaxLen: 1 << 10}
	with := func(m map[row.Value]int64, v row.Value, n int64) map[row.Value]int64 {
		c := map[row.Value]int64{v: n}
		for k, x := range m {
			if k != v {
				c[k] = x
			}
		}
		return c
	}
	for _, c := range []struct {
		name  string
		judge func(*Row, Weights) Judgement
		kind  row.Kind
		v     map[row.Value]int64
		ns    float64 // 0: no advice
		says  string
	}{
		{"false sharing", falseSharing, row.Line, padding, 1e6 * w[lineBack], "padding to 64 bytes"},
		{"that is not significant", falseSharing, row.Line, with(padding, row.Misses, 1000), 0, ""},
		{"of what is shared indeed", falseSharing, row.Line, shared, 0, ""},
		{"for longer than the program ran", falseSharing, row.Line, with(padding, row.Misses, 1e10), 1e9, "padding"},
		{"shared elements", sharedElements, row.Line, shared, 8e5 * w[lineBackAtomic], "95% of the accesses"},
		{"that are not shared", sharedElements, row.Line, padding, 0, ""},
		{"that one goroutine stores to", sharedElements, row.Line, with(shared, row.MaxCap, 1), 0, ""},
		{"pointers", sliceOfPointers, row.Scan, pointed, 8e5 * w[pointedMemory], "[]*T"},
		{"pointers to what a cache holds", sliceOfPointers, row.Scan, with(pointed, row.MaxLen, 1000), 0, ""},
		{"few pointers", sliceOfPointers, row.Scan, with(pointed, row.Pointed, 1e4), 0, ""},
		{"links are no array", sliceOfPointers, row.Scan, chased, 0, ""},
		{"links", linkedLocality, row.Scan, chased, 8e5 * w[chasedNear], "nodes in one slice"},
		{"links in memory", linkedLocality, row.Scan, with(chased, row.MaxLen, 1<<21), 8e5 * w[chasedMemory], "nodes in one slice"},
		{"links that the first cache holds", linkedLocality, row.Scan, with(chased, row.MaxLen, 100), 0, ""},
		{"pointers are no links", linkedLocality, row.Scan, pointed, 0, ""},
	} {
		j := c.judge(accesses(c.kind, c.v), w)
		if math.Abs(j.NS-c.ns) > 1 {
			t.Errorf("%s: saves %.0f ns, want %.0f", c.name, j.NS, c.ns)
		}
		if c.ns == 0 && j.Advice != "" || !strings.Contains(j.Advice, c.says) {
			t.Errorf("%s: says %q", c.name, j.Advice)
		}
	}
}

// TestScattered: accesses to distant lines without a pointer are no advice, but a
// characteristic.
func TestScattered(t *testing.T) {
	v := map[row.Value]int64{row.Made: 1e6, row.Placed: 5e5, row.MaxLen: 1 << 21}
	ns, text := priceOf(accesses(row.Scan, v), BuiltIn())
	if ns != 5e5*BuiltIn()[pointedMemory] || !strings.Contains(text, "50%") {
		t.Errorf("%v ns: %s", ns, text)
	}
	v[row.MaxLen] = 100
	if ns, _ := priceOf(accesses(row.Scan, v), BuiltIn()); ns != 0 {
		t.Errorf("%v ns where a cache holds all", ns)
	}
	if ns, _ := priceOf(accesses(row.Line, map[row.Value]int64{row.Gets: 1e9}), BuiltIn()); ns != 0 {
		t.Errorf("%v ns of a line", ns)
	}
}
