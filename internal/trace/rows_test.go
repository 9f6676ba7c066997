package trace

import (
	"math/rand/v2"
	"testing"
)

// TestDepth compares depths with counting, for random scopes.
func TestDepth(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		r := &row{}
		var all []int64
		now := int64(0)
		for range 200 {
			now += rnd.Int64N(5)
			want := 0
			for _, s := range all {
				if s > now {
					want++
				}
			}
			if got := r.running(now); got != want {
				t.Fatalf("at %d: depth %d, want %d", now, got, want)
			}
			stop := now + rnd.Int64N(40)
			r.addScope(stop)
			all = append(all, stop)
		}
	}
}

// TestRowsSweep checks that a million idle goroutines leave no rows, and all their names.
func TestRowsSweep(t *testing.T) {
	if RaceEnabled {
		t.Skip("it has one goroutine, and takes long with the race detector")
	}
	s := newRows()
	for g := uint64(1); g <= 1e6; g++ {
		s.makeRoom(1, int64(g))
		r := s.get(g)
		if r.running(int64(g)) != 0 || r.track != 0 {
			t.Fatalf("goroutine %d begins with %+v", g, r)
		}
		r.addScope(int64(g) + 3)
		r.track = uint16(g%1000 + 2)
	}
	if len(s.m) > 4*sweepAt {
		t.Errorf("%d rows are left", len(s.m))
	}
	for g := uint64(1); g <= 1e6; g += 777 {
		if r := s.get(g); r.track != uint16(g%1000+2) {
			t.Fatalf("goroutine %d is called %d", g, r.track)
		}
	}
}

func TestTrackTable(t *testing.T) {
	if RaceEnabled {
		t.Skip("it has one goroutine, and takes long with the race detector")
	}
	var tab trackTable
	const n = 3 * trackSlots // more than two generations hold
	for g := uint64(1); g <= n; g++ {
		tab.put(g, uint16(g%60000+1))
	}
	if !tab.dropped {
		t.Error("it forgot nothing")
	}
	for g := uint64(n - trackSlots/2); g <= n; g++ {
		if got := tab.get(g); got != uint16(g%60000+1) {
			t.Fatalf("goroutine %d is called %d", g, got)
		}
	}
	tab.put(n, 7)
	if got := tab.get(n); got != 7 {
		t.Errorf("renamed to 7, is called %d", got)
	}
	if tab.put(1<<62|5, 3); tab.get(1<<62|5) != 0 {
		t.Error("a thread has a name")
	}
}
