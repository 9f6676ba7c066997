package samples

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope/gotrace"
)

//go:noinline
func waitInSystemCalls(times int, each time.Duration) {
	for range times {
		ts := unix.NsecToTimespec(int64(each))
		for unix.Nanosleep(&ts, &ts) == unix.EINTR { // interrupted by a signal
		}
	}
}

// TestSystemCalls: a system call that waits is attributed to its function, with all of its
// time: the wait itself, until its thread could continue, and until Go had a processor for
// it. If the times of threads on CPUs are not recorded, the wait and the call are one.
func TestSystemCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	const times, each = 50, 2 * time.Millisecond
	from := time.Now()
	waitInSystemCalls(times, each)
	took := time.Since(from)
	end()
	tr := tracetest.OpenFile(t, path)
	p, err := OfTrace(context.Background(), tr, anything())
	if err != nil {
		t.Fatal(err)
	}
	const function = ".waitInSystemCalls"
	metric := "blocked"
	if !tr.HasSwitches() {
		metric = "syscall"
	}
	waited := time.Duration(on(p, metric, function))
	all := waited
	for _, m := range []string{"syscall", "preempted", "textfault", "datafault", "stalled", "runnable"} {
		if m != metric {
			all += time.Duration(on(p, m, function))
		}
	}
	t.Logf("%v %s, with waits for a CPU %v, of %v", waited, metric, all, took)
	if waited < times*each*95/100 || all > took+took/50 {
		t.Errorf("%v of %s, with waits for a CPU %v: there were %d calls of %v in %v", waited, metric, all, times, each, took)
	}
}
