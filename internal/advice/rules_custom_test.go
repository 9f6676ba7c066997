package advice

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// customs returns a row of containers with this many slots, elements and growths.
func customs(table bool, made, slots, elements, grown int64) *Row {
	r := &Row{Row: row.Row{Kind: row.Custom, Type: "Things", Stack: []string{"main.f /src/p/f.go:7"}}}
	v := &r.Stats.V
	v[row.Made], v[row.Hinted], v[row.MinHint], v[row.MaxHint] = made, made, 8, 8
	v[row.MaxLen], v[row.MinLen], v[row.MaxCap], v[row.MaxElem] = elements, elements, slots, 16
	v[row.CapBytes], v[row.LenBytes] = made*slots*16, made*elements*16
	v[row.Grown], v[row.Moved], v[row.GrownBytes] = made*grown, made*grown*elements/2, made*grown*slots*16/2
	r.H[row.Len][row.Bucket(elements)], r.H[row.Cap][row.Bucket(slots)] = made, made
	if table {
		v[row.Extra] = made
	}
	return r
}

// used adds operations, and the places probed.
func used(r *Row, gets, probes int64) *Row {
	v := &r.Stats.V
	v[row.Gets], v[row.Misses], v[row.Probes], v[row.MaxProbes], v[row.MaxChain] = gets, gets/10, probes, 40, row.Chain(39, 128)
	return r
}

// TestCustomRules: rows with a problem give advice with its gain, and others none.
func TestCustomRules(t *testing.T) {
	w := Weights{copyByte: 1, alloc: 100, allocByte: 0.5, mapMove: 10, hashProbe: 2}
	for _, c := range []struct {
		name, id string
		r        *Row
		ns       float64
		want     string // part of the advice or the evidence
	}{
		{"a table that grows", "custom-too-small", customs(true, 10, 1000, 1000, 7), 70*500*16 + 70*100 + 70*500*16*0.5 + 70*500*10, "hash table Things made here is made for 8: 1,000 slots from the beginning would save 70 growths and moving 35,000 elements"},
		{"a ring that grows", "custom-too-small", customs(false, 1, 64, 64, 3), 3*32*16 + 3*100 + 3*32*16*0.5, "container Things made here"},
		{"a table that never grows", "custom-too-small", used(customs(true, 1, 8, 800, 0), 1000, 51000), 2 * (50 - 0.5) * 1000, "examining 49,500 places more"},
		{"one that is large enough", "custom-too-small", used(customs(true, 1, 1000, 900, 0), 10000, 15000), 0, ""},
		{"one whose hash function is bad, not its size", "custom-too-small", used(customs(true, 1, 1000, 900, 0), 10000, 200000), 0, ""},
		{"a table that is nearly empty", "custom-too-large", customs(true, 100, 1000, 10, 0), 100 * (1000 - 20) * 16 * 0.5, "has 1,000 slots: 10 would save 1.50 MiB"},
		{"one that has a third", "custom-too-large", customs(true, 100, 1000, 333, 0), 0, ""},
		{"one that has grown", "custom-too-large", customs(true, 100, 1000, 10, 1), 0, ""},
		{"a bad hash function", "custom-inefficient-hash", used(customs(true, 1, 1000, 900, 0), 10000, 200000), 2 * 10000 * (20 - 1.5), "the longest chain has 39 elements, in bucket 128"},
		{"and what is asked for", "custom-inefficient-hash", used(customs(true, 1, 1000, 900, 0), 10000, 200000), 2 * 10000 * (20 - 1.5), "1,000 of 10,000 look-ups found nothing"},
		{"a good one", "custom-inefficient-hash", used(customs(true, 1, 1000, 900, 0), 10000, 20000), 0, ""},
		{"a good one of a table with too few slots", "custom-inefficient-hash", used(customs(true, 1, 8, 800, 0), 10000, 510000), 0, ""},
		{"few look-ups", "custom-inefficient-hash", used(customs(true, 1, 1000, 900, 0), 500, 20000), 0, ""},
		{"a ring", "custom-inefficient-hash", used(customs(false, 1, 1000, 900, 0), 10000, 200000), 0, ""},
	} {
		for _, rule := range customRules {
			if rule.ID != c.id {
				continue
			}
			j := rule.Judge(c.r, w)
			if (j.Advice != "") != (c.want != "") || math.Abs(j.NS-c.ns) > 1e-6*c.ns {
				t.Errorf("%s: %g ns, want %g: %s", c.name, j.NS, c.ns, j.Advice)
			}
			if text := fmt.Sprint(j.Advice, j.Evidence); !strings.Contains(text, c.want) {
				t.Errorf("%s: no %q in %s", c.name, c.want, text)
			}
		}
	}
}

// TestCustomStoppers: containers of widely different sizes.
func TestCustomStoppers(t *testing.T) {
	r := customs(true, 2, 1000, 1000, 5)
	r.H[row.Len][row.Bucket(10)] = 2
	if j := customTooSmall(r, BuiltIn()); len(j.Stoppers) != 1 || !strings.Contains(j.Stoppers[0], "differ") {
		t.Errorf("%q", j.Stoppers)
	}
}
