package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestLocksByTheirObject: a lock with an object's name is called by the object.
func TestLocksByTheirObject(t *testing.T) {
	for _, c := range []struct {
		use
		want string
	}{
		{use{l: &lock{name: "main.store.mu", object: true, addrs: []uint64{1, 2}}}, "the 2 locks main.store.mu"},
		{use{l: &lock{name: "main.store.mu", object: true, addrs: []uint64{1}}}, "lock main.store.mu"},
		{use{l: &lock{name: "main.get t.go:1", addrs: []uint64{1, 2}}}, "the 2 locks without a name in main.get t.go:1"},
		{use{l: &lock{name: "main.get t.go:1", addrs: []uint64{1}}}, "the lock in main.get t.go:1"},
	} {
		if got := plain(c.called()); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestLocksWithoutAName: all locks that are locked in one place are one lock, with the holds
// of those that locked them elsewhere.
func TestLocksWithoutAName(t *testing.T) {
	var b strings.Builder
	b.WriteString(`header clock=monotonic start=1000 wall=1700000000000000000
state closed=1 tick=200000000
chunk blocks
name 2 "main.get t.go:1"
name 3 "main.put t.go:2"
beat ticks=2000 user_ns=0 sys_ns=0 cpus=2 gomaxprocs=2 minor_faults=0 major_faults=0
beat ticks=200000000 user_ns=100000000 sys_ns=0 cpus=2 gomaxprocs=2 minor_faults=0 major_faults=0
stop ticks=200000000
chunk records owner=0
`)
	for i := range 20 { // four locks, each used by two goroutines, one in get and one in put
		at := 1_000_000 + i*8_000_000
		fmt.Fprintf(&b, "hold \"main.put t.go:2\" g=7 start=%d stop=%d cpu=0/unknown | addr:%d goid:0 uint:260\n", at, at+6_000_000, 16+i%4*16)
		fmt.Fprintf(&b, "wait \"main.get t.go:1\" g=8 start=%d stop=%d cpu=0/unknown | addr:%d goid:7 uint:260\n", at+1000, at+6_000_000, 16+i%4*16)
		fmt.Fprintf(&b, "hold \"main.get t.go:1\" g=8 start=%d stop=%d cpu=0/unknown | addr:%d goid:0 uint:260\n", at+6_000_100, at+7_800_000, 16+i%4*16)
	}
	r, err := Examine(tracetest.OpenText(t, b.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Object != "main.get t.go:1" || r.Findings[0].Verdict != lockContention {
		t.Fatalf("%s", list(r))
	}
	if e := strings.Join(r.Findings[0].Evidence, "\n"); !strings.Contains(e, "20 waits for the 4 locks without a name in main.get t.go:1 took 120ms in all") || strings.Contains(e, "it is held") {
		t.Errorf("%s", e)
	}
}
