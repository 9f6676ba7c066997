package states

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stolen is how long the host ran others on this machine's CPUs. Thread switches don't
// tell of that, and a thread's clock leaves it out.
func stolen(t *testing.T) time.Duration {
	t.Helper()
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	const field = 8 // of "cpu user nice system idle iowait irq softirq steal"
	f := strings.Fields(line)
	if len(f) <= field {
		return 0
	}
	ticks, err := strconv.ParseInt(f[field], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// failUnlessStolen fails the test, but where the host took part of the machine away
// since it had given so much to others: what is wrong then is what nobody can tell.
func failUnlessStolen(t *testing.T, before time.Duration, format string, args ...any) {
	t.Helper()
	if took := stolen(t) - before; took > 10*time.Millisecond {
		t.Skipf("the host took %v of CPU time meanwhile, which switches count and threads' clocks do not", took)
	}
	t.Fatalf(format, args...)
}
