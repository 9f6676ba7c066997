package doctor

import (
	"context"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestScopesWithoutLocks: without states and locks no rule reads scopes, and they are not
// kept. With a lock they are, including earlier ones, and flats is computed on first use.
func TestScopesWithoutLocks(t *testing.T) {
	scopes := `header clock=monotonic start=1000 wall=1700000000000000000
state closed=1 tick=9000
chunk blocks
name 2 "work"
name 3 "lock"
stop ticks=9000
chunk records owner=0
task "work" g=7 start=1000 stop=8000 cpu=0/unknown
task "work" g=8 start=2000 stop=4000 cpu=0/unknown
`
	locks := `wait "lock" g=7 start=3000 stop=4000 cpu=0/unknown | addr:16 goid:8 uint:260
hold "lock" g=8 start=2500 stop=4000 cpu=0/unknown | addr:16 goid:0 uint:260
`
	for _, c := range []struct {
		text  string
		to    int64
		spans int
	}{{scopes, 0, 0}, {scopes + locks, 0, 2}, {scopes + locks, 1200, 0}} {
		r := tracetest.OpenText(t, c.text)
		o := Options{}
		o.To = c.to
		m := newModel(0, r.End(), r.Name)
		x := &loader{t: r, o: &o, m: m, ctx: context.Background(), locks: map[lockKey]*lock{}, placed: map[uint64][]turn{}, waited: map[lockKey]bool{}}
		if err := x.load(); err != nil {
			t.Fatal(err)
		}
		if x.spans != c.spans || len(m.gs) != c.spans {
			t.Errorf("%d scopes of %d goroutines, want %d", x.spans, len(m.gs), c.spans)
		}
		for _, g := range m.gs {
			if g.flat != nil {
				t.Error("it was flattened before somebody asked")
			}
			if name, ok := g.scope(2500); !ok || m.name(name) != "work" {
				t.Errorf("goroutine %d: %d, %v", g.id, name, ok)
			}
		}
	}
}
