package tracetest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// notes is a testing.TB that keeps what failed.
type notes struct {
	testing.TB
	failed []string
}

func (n *notes) Helper() {}
func (n *notes) Errorf(format string, args ...any) {
	n.failed = append(n.failed, fmt.Sprintf(format, args...))
}

// TestFrugal: what is kept counts, garbage does not.
func TestFrugal(t *testing.T) {
	if !InChild(t) {
		return
	}
	const mega = 1 << 20
	keep := func(n int) func() {
		return func() {
			var kept [][]byte
			for range n {
				kept = append(kept, make([]byte, mega))
			}
			runtime.KeepAlive(kept)
		}
	}
	garbage := func() {
		for range 200 {
			runtime.KeepAlive(make([]byte, mega))
		}
	}
	for _, test := range []struct {
		about string
		size  int64
		f     func()
		fails string
	}{
		{"little", 0, keep(1), ""},
		{"as much as may be", 2 * mega, keep(16), ""},
		{"too much", 2 * mega, keep(20), "of memory"},
		{"garbage", mega, garbage, ""},
		{"slow", 0, func() {
			for start := worked(); worked()-start < slowdown*time.Second+time.Millisecond; {
			}
		}, "at most"},
	} {
		n := &notes{TB: t}
		memory, took := Frugal(n, test.about, test.size, test.f)
		if got := strings.Join(n.failed, "; "); (test.fails == "") != (got == "") || !strings.Contains(got, test.fails) {
			t.Errorf("%s: %d bytes, %v, %q", test.about, memory, took, got)
		}
		if test.about == "too much" && (memory <= MaxMemory(test.size) || memory > 22*mega) {
			t.Errorf("%s: %d bytes", test.about, memory)
		}
	}
}
