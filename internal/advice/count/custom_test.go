package count

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/custom"
	"github.com/scopeview/scopeview/internal/advice/row"
)

// construct creates a container for the caller of the test: frames of this package are the
// recorder's.
//
//go:noinline
func construct(s custom.Spec) uintptr { return bornCustom(2, &s) }

// TestCustom: all events of containers are in the row of their creator.
func TestCustom(t *testing.T) {
	rows := counting(t, all)
	for range 2 {
		n := construct(custom.Spec{Name: "Table", Table: true, Slots: 8, SlotBytes: 16, Hinted: true})
		for _, x := range []struct {
			op      custom.Op
			a, b, c int
		}{
			{custom.Put, 1, 1, 0}, {custom.Put, 3, 9, 0}, {custom.Grow, 8, 32, 8}, {custom.Get, 2, 0, 0}, {custom.Miss, 5, 0, 0}, {custom.Delete, 1, 8, 0},
			{custom.Chain, 6, 4, 0}, {custom.Chain, 7, 3, 0},
		} {
			reportCustom(n, x.op, x.a, x.b, x.c)
		}
		reportCustom(n, custom.End, 0, 0, 0)
		reportCustom(n, custom.Get, 1, 0, 0) // not counted after the end
	}
	r := only(t, rows(), row.Custom)
	if r.Type != "Table" {
		t.Fatalf("%+v", r)
	}
	if !strings.HasPrefix(r.Stack[0], "testing.tRunner ") {
		t.Errorf("stack %q", r.Stack)
	}
	for v, want := range map[row.Value]int64{
		row.Made: 2, row.Hinted: 2, row.MaxHint: 8, row.Grown: 2, row.Moved: 16, row.GrownBytes: 2 * 8 * 16, row.CapBytes: 2 * 32 * 16, row.LenBytes: 2 * 9 * 16,
		row.MaxLen: 9, row.MaxCap: 32, row.MaxElem: 16, row.Gets: 4, row.Misses: 2, row.Puts: 4, row.Deletes: 2, row.Probes: 2 * 12, row.MaxProbes: 5,
		row.MaxChain: row.Chain(4, 6), row.Extra: 2,
	} {
		if r.V[v] != want {
			t.Errorf("%s is %d, want %d", v, r.V[v], want)
		}
	}
	if n := r.H[row.Len][row.Bucket(9)]; n != 2 {
		t.Errorf("%d had 9 elements", n)
	}
}

// TestCustomLives: a container that has not ended counts with its values so far. One that is
// no hash table, without slots, has a description.
func TestCustomLives(t *testing.T) {
	rows := counting(t, all)
	n := construct(custom.Spec{Name: "Ring", Slots: 4})
	reportCustom(n, custom.Put, 1, 3, 0)
	if r := only(t, rows(), row.Custom); r.V[row.LenBytes] != 3*8 || r.V[row.CapBytes] != 4*8 || r.V[row.Hinted] != 0 || r.V[row.Extra] != 0 {
		t.Fatalf("%+v", r)
	}
}

// TestCustomIsHeard: counting sets a listener, and without counting nothing is followed.
func TestCustomIsHeard(t *testing.T) {
	rows := counting(t, all)
	l := custom.Listening.Load()
	if l == nil {
		t.Fatal("nobody listens")
	}
	if n := l.Born(1, &custom.Spec{Name: "x"}); n == 0 {
		t.Error("it is not followed")
	}
	rows()
	if n := l.Born(1, &custom.Spec{Name: "x"}); n != 0 {
		t.Error("it is followed when nothing is counted")
	}
	l.Report(1, custom.Get, 1, 0, 0)
}

// inner and outer are inlined.
func inner() []uintptr { return customStack(here()) }
func outer() []uintptr { return inner() }

// TestCustomStack: each frame occurs once, whatever is inlined.
func TestCustomStack(t *testing.T) {
	var f frames
	var names []string
	for _, pc := range outer() {
		for _, x := range f.of(pc) {
			name, _, _ := strings.Cut(f.text[x.number], " ")
			names = append(names, name[strings.LastIndexByte(name, '.')+1:])
		}
	}
	if got := strings.Join(names, " "); got != "outer TestCustomStack tRunner goexit" {
		t.Errorf("frames are %s", got)
	}
}
