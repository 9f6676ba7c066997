package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

func heldBy(l *Lock) string {
	var b []string
	for _, h := range l.HeldBy() {
		who := names[h.Name]
		switch h.Kind {
		case 0:
			who = "none"
		case format.KindWait:
			who = "wait for " + who
		}
		b = append(b, fmt.Sprintf("%s=%d", who, h.Time))
	}
	return strings.Join(b, " ")
}

func TestHeldBy(t *testing.T) {
	wait, hold := format.KindWait, format.KindHold
	for _, test := range []struct {
		about  string
		events []trace.Event
		want   string
	}{
		{"in a scope", []trace.Event{scope(nameA, 1, 0, 10), kind(hold, scope(lockL, 1, 2, 6))}, "A=4"},
		{"around a scope", []trace.Event{kind(hold, scope(lockL, 1, 0, 10)), scope(nameA, 1, 2, 9)}, "A=7 none=3"},
		{"around a scope in a scope", []trace.Event{
			scope(nameA, 1, 0, 20), kind(hold, scope(lockL, 1, 5, 15)), scope(nameB, 1, 6, 14)}, "B=8 A=2"},
		{"no scope", []trace.Event{kind(hold, scope(lockL, 1, 2, 6))}, "none=4"},
		{"longer than the scope", []trace.Event{scope(nameA, 1, 0, 4), kind(hold, scope(lockL, 1, 2, 10))}, "none=6 A=2"},
		{"waiting for another lock", []trace.Event{
			scope(nameA, 1, 0, 10), kind(hold, scope(lockL, 1, 0, 10)), kind(wait, scope(lockM, 1, 1, 9))}, "wait for M=8 A=2"},
		{"a scope elsewhere", []trace.Event{
			scope(nameA, 1, 0, 10), kind(hold, scope(lockL, 1, 2, 6)), scope(nameB, 2, 2, 6)}, "A=4"},
		{"two readers", []trace.Event{
			scope(nameA, 1, 0, 10), scope(nameB, 2, 0, 10), kind(hold, scope(lockL, 1, 2, 6)), kind(hold, scope(lockL, 2, 2, 9))}, "B=7 A=4"},
		{"still held", []trace.Event{open(scope(nameA, 1, 0, 10)), open(kind(hold, scope(lockL, 1, 2, 10)))}, "A=8"},
	} {
		s := summarize(SummaryOptions{}, test.events...)
		var l *Lock
		for _, x := range s.Locks {
			if x.Name == lockL {
				l = x
			}
		}
		if got := heldBy(l); got != test.want {
			t.Errorf("%s: %s, want %s", test.about, got, test.want)
		}
	}
}

func TestLocks(t *testing.T) {
	wait, hold := format.KindWait, format.KindHold
	s := summarize(SummaryOptions{},
		kind(hold, scope(lockM, 1, 0, 100)),
		kind(hold, scope(lockL, 1, 0, 10)),
		kind(wait, scope(lockL, 2, 1, 10)),
		kind(wait, scope(lockL, 3, 2, 30)),
		kind(hold, scope(lockL, 2, 10, 30)),
		open(kind(hold, scope(lockL, 3, 30, 35))),
		open(kind(wait, scope(lockL, 4, 31, 35))),
	)
	locks := s.Locks
	if len(locks) != 2 || locks[0].Name != lockL {
		t.Fatalf("%d locks, want L, which was waited for, before M", len(locks))
	}
	if got, want := locks[0].Waits, (Periods{2, 37, 28, 1, 4, 0}); got != want {
		t.Errorf("waits %+v, want %+v", got, want)
	}
	if got, want := locks[0].Holds, (Periods{2, 30, 20, 1, 5, 0}); got != want {
		t.Errorf("holds %+v, want %+v", got, want)
	}
	if h := locks[1].HeldBy(); len(h) != 1 || h[0].Share != 1 {
		t.Errorf("M held by %+v", h)
	}
}

// TestCalledOff: a wait that was called off does not count.
func TestCalledOff(t *testing.T) {
	s := summarize(SummaryOptions{},
		ofLock(scope(lockL, 1, 5, 5), format.KindWait, 16, 2, 0x100),
		ofLock(scope(lockL, 1, 6, 7), format.KindWait, 16, 2, 0x100),
		ofLock(scope(lockM, 1, 8, 8), format.KindWait, 24, 0, 0x102), // scope.Lock's, on a coarse clock
		kind(format.KindWait, scope(lockM, 1, 9, 9)),
	)
	for _, l := range s.Locks {
		if want := map[uint16]int64{lockL: 1, lockM: 2}[l.Name]; l.Waits.Count != want {
			t.Errorf("%s: %d waits, want %d", names[l.Name], l.Waits.Count, want)
		}
	}
}
