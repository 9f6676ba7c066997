package outside

import (
	"fmt"
	"testing"
)

// TestSpace: a later mapping covers earlier ones.
func TestSpace(t *testing.T) {
	var s space
	s.put(&code{from: 100, to: 200, file: "a"})
	s.put(&code{from: 300, to: 400, offset: 50, file: "b"})
	s.put(&code{from: 150, to: 350, offset: 1000, file: "c"})
	s.put(&code{from: 5, to: 5, file: "none"})
	other := s.copyOf()
	other.put(&code{from: 0, to: 1000, file: "d"})
	for pc, want := range map[uint64]string{99: " 0", 100: "a 0", 149: "a 49", 150: "c 1000", 349: "c 1199", 350: "b 100", 399: "b 149", 400: " 0"} {
		got := " 0"
		if c := s.find(pc); c != nil {
			got = fmt.Sprint(c.file, " ", c.offset+pc-c.from)
		}
		if got != want {
			t.Errorf("%d: %q, want %q", pc, got, want)
		}
	}
}
