package outside

import (
	"fmt"
	"testing"
)

// TestSpace: what is mapped later covers what was there.
func TestSpace(t *testing.T) {
	var s space
	s.put(mapping{100, 200, 0, "a"})
	s.put(mapping{300, 400, 50, "b"})
	s.put(mapping{150, 350, 1000, "c"})
	s.put(mapping{5, 5, 0, "none"})
	other := s.copyOf()
	other.put(mapping{0, 1000, 0, "d"})
	for pc, want := range map[uint64]string{99: " 0", 100: "a 0", 149: "a 49", 150: "c 1000", 349: "c 1199", 350: "b 100", 399: "b 149", 400: " 0"} {
		file, off := s.find(pc)
		if got := fmt.Sprint(file, " ", off); got != want {
			t.Errorf("%d: %q, want %q", pc, got, want)
		}
	}
}
