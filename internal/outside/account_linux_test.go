package outside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestAccount: a thread's page faults and switches are exactly those that the system has
// counted (getrusage). The times that the program prints enclose its counting. Nothing that
// it does there takes a page fault or waits, but it can be preempted, once at each end.
func TestAccount(t *testing.T) {
	tr, res, out := recorded(t, "account", "page-faults", "context-switches")
	var (
		thread                   uint32
		from, to                 int64
		faults, waited, putOff   int64
		faulted, switched, slept int64
		preempted                int64
	)
	if _, err := fmt.Sscan(out, &thread, &from, &to, &faults, &waited, &putOff); err != nil || res.Lost != 0 {
		t.Fatalf("%v: %q, %+v", err, out, res)
	}
	start := tr.Header().StartMono
	err := tr.EachSample(func(s *trace.Sample) bool {
		switch at := s.Time + start; {
		case s.Thread != thread || at < from || at > to:
		case s.Counter == "page-faults":
			faulted += s.Weight
		default:
			switched += s.Weight
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	err = tr.EachSwitches(func(s *format.Switches) bool {
		for _, x := range s.List {
			switch {
			case s.Thread != thread || x.Time < from || x.Time > to:
			case x.How == format.SwitchOut:
				slept++
			case x.How == format.SwitchPreempt:
				preempted++
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("page faults %d, by the system %d; switches to wait %d, %d; put off %d, %d; samples of switches %d", faulted, faults, slept, waited, preempted, putOff, switched)
	if faulted != faults || faults < 500 {
		t.Errorf("%d page faults, and the system counted %d", faulted, faults)
	}
	if slept != waited || waited < 100 {
		t.Errorf("%d switches to wait, and the system counted %d", slept, waited)
	}
	if n := preempted - putOff; n < 0 || n > 2 || putOff == 0 {
		t.Errorf("put off the CPU %d times, and the system counted %d", preempted, putOff)
	}
	if switched != slept+preempted {
		t.Errorf("%d samples of switches, of which there were %d and %d", switched, slept, preempted)
	}
}

// TestUserOnly: a user who may not monitor the kernel gets a note on what is missing; a
// counter that counts only in the kernel is an error.
func TestUserOnly(t *testing.T) {
	level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if strings.TrimSpace(string(level)) != "2" {
		t.Skipf("kernel.perf_event_paranoid is %q: the kernel's part is for everybody, or nothing is", level)
	}
	runtime.LockOSThread() // capabilities are the thread's
	defer runtime.UnlockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var had [2]unix.CapUserData
	if err := unix.Capget(&head, &had[0]); err != nil {
		t.Fatal(err)
	}
	less := had
	less[0].Effective &^= 1 << unix.CAP_SYS_ADMIN
	less[1].Effective &^= 1 << (unix.CAP_PERFMON - 32)
	if err := unix.Capset(&head, &less[0]); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Capset(&head, &had[0]); err != nil {
			t.Error(err)
		}
	}()
	tr, _, _ := recorded(t, "calls", "task-clock:1ms", "page-faults")
	if _, _, kernel := sums(t, tr, "task-clock", ""); kernel != 0 {
		t.Errorf("%d ns in the kernel", kernel)
	}
	for _, name := range []string{"counter_task-clock", "counter_page-faults"} {
		if got := tr.Lookup(name); !strings.HasPrefix(got, "on, except in the kernel") {
			t.Errorf("%s is %q", name, got)
		}
	}
	for _, name := range []string{"context-switches", "cpu-migrations"} {
		path := filepath.Join(t.TempDir(), "x.scope")
		_, err := Record(context.Background(), Options{Command: []string{victim, "calls"}, Path: path, Counters: []perf.Counter{{Name: name, Every: 1}}})
		if err == nil || !strings.Contains(err.Error(), "the counter "+name+": it counts in the kernel") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: there is a trace", name)
		}
	}
}
