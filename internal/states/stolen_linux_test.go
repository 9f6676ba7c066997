package states

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// stolen returns how long the host ran others on this machine's CPUs. Thread switches
// do not show that, and a thread's clock excludes it.
func stolen(t *testing.T) time.Duration {
	t.Helper()
	b := filetest.Read(t, "/proc/stat")
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

// failUnlessStolen fails the test, unless the host took more than a hundredth of the
// CPUs' time since begin, where before is its value at begin: then the result is
// meaningless.
func failUnlessStolen(t *testing.T, begin time.Time, before time.Duration, format string, args ...any) {
	t.Helper()
	if took := stolen(t) - before; took > time.Since(begin)*time.Duration(runtime.NumCPU())/100 {
		t.Skipf("the host took %v of CPU time meanwhile, which switches count and threads' clocks do not", took)
	}
	t.Fatalf(format, args...)
}
