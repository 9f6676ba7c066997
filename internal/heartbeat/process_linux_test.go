package heartbeat

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
)

func TestSampleOfThisProcess(t *testing.T) {
	s := New()
	page := make([]byte, 32<<20)
	for i := 0; i < len(page); i += os.Getpagesize() {
		page[i] = 1
	}
	vs, ts := s.Sample(nil, nil)
	runtime.KeepAlive(page)
	if err := s.err(); err != nil {
		t.Logf("this machine does not give everything: %v", err)
	}
	for _, least := range []struct {
		field format.Field
		value int64
	}{
		{format.FieldRSS, 32 << 20},
		{format.FieldMinorFaults, 1},
		{format.FieldThreads, 2},
		{format.FieldCPUs, 1},
		{format.FieldVoluntary, 1},
		{format.FieldThreadCPU, 1},
	} {
		if v, ok := fieldOf(vs, least.field); !ok || v < least.value {
			t.Errorf("%v = %d (known: %v), want at least %d", least.field, v, ok, least.value)
		}
	}
	threads, _ := fieldOf(vs, format.FieldThreads)
	rest, _ := fieldOf(vs, format.FieldRestThreads)
	// Threads may begin and end between the two reads.
	if n := int64(len(ts)) + rest; n < threads-2 || n > threads+2 {
		t.Errorf("%d threads listed and %d in the rest, want %d in all", len(ts), rest, threads)
	}
}

func TestBurntCPUIsSeen(t *testing.T) {
	const burn = 60e6
	type burnt struct {
		thread int64
		spent  int64
	}
	begin, done, end := make(chan struct{}), make(chan burnt), make(chan struct{})
	defer close(end)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		<-begin
		from := threadTime(t)
		for threadTime(t)-from < burn {
		}
		done <- burnt{int64(unix.Gettid()), threadTime(t)}
		<-end // the thread must exist to be listed
	}()

	s := New()
	before, _ := s.Sample(nil, nil)
	begin <- struct{}{}
	truth := <-done
	s.process.threads.next = s.process.threads.next.AddDate(-1, 0, 0)
	after, ts := s.Sample(nil, nil)

	var spent [2]int64
	for i, vs := range [][]format.FieldValue{before, after} {
		user, okUser := fieldOf(vs, format.FieldUser)
		system, okSystem := fieldOf(vs, format.FieldSystem)
		if !okUser || !okSystem {
			t.Fatal("user or system time unknown")
		}
		spent[i] = user + system
	}
	if got := spent[1] - spent[0]; got < burn*9/10 {
		t.Errorf("the process spent %d ns between the beats, want at least %d", got, int64(burn*9/10))
	}
	for i, th := range ts {
		if th.ID != truth.thread {
			continue
		}
		// The CPU time of a running thread is updated once a tick.
		if off := truth.spent - th.CPU; off < -10e6 || off > 20e6 {
			t.Errorf("thread %d has %d ns, its own clock said %d", th.ID, th.CPU, truth.spent)
		}
		if i != 0 {
			t.Errorf("the thread that burnt CPU is number %d in the list, want the first", i)
		}
		return
	}
	t.Errorf("thread %d is not listed in %v", truth.thread, ts)
}

func threadTime(t *testing.T) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		t.Error(err)
	}
	return ts.Nano()
}

func TestMemoryFromStatus(t *testing.T) {
	root := fakeProc(t, map[string]string{
		"proc/42/status": "Name:\tx\nVmRSS:\t  123 kB\nVmSwap:\t  4 kB\n",
	})
	_, b := sampleAt(root)
	if v, ok := fieldOf(b.values, format.FieldRSS); !ok || v != 123<<10 {
		t.Errorf("rss = %d (known: %v), want %d", v, ok, 123<<10)
	}
	if v, ok := fieldOf(b.values, format.FieldSwap); !ok || v != 4<<10 {
		t.Errorf("swap = %d (known: %v), want %d", v, ok, 4<<10)
	}
}

// TestMissingAndMalformedProc: fields that can't be read are absent, with one error per
// beat.
func TestMissingAndMalformedProc(t *testing.T) {
	fromProc := []format.Field{
		format.FieldRSS, format.FieldSwap, format.FieldThreads, format.FieldThreadCPU, format.FieldThreadWait,
		format.FieldRestThreads, format.FieldRestCPU, format.FieldRestWait, format.FieldCPULimit, format.FieldMemLimit,
	}
	for _, c := range []struct {
		name  string
		files map[string]string
	}{
		{"an empty process directory", nil},
		{"no memory in status", map[string]string{
			"proc/42/status": "Name:\tkthread\n",
			"proc/42/stat":   "42 (x) S 1",
		}},
		{"text instead of numbers", map[string]string{
			"proc/42/status":             "VmRSS:\tmuch kB\n",
			"proc/42/stat":               "gibberish",
			"proc/42/cgroup":             "gibberish",
			"proc/42/mountinfo":          "gibberish",
			"proc/42/task/42/schedstat":  "a b c\n",
			"proc/42/task/who/schedstat": "1 2 3\n",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, b := sampleAt(fakeProc(t, c.files))
			for _, f := range fromProc {
				if v, ok := fieldOf(b.values, f); ok {
					t.Errorf("%v = %d, want it absent", f, v)
				}
			}
			if len(b.errs) == 0 || len(b.errs) > 6 {
				t.Errorf("%d errors, want one for each of the six sources at most: %v", len(b.errs), b.errs)
			}
		})
	}
}

func TestNoProcAtAll(t *testing.T) {
	s := &Sampler{runtime: newRuntimeReader()}
	s.process.initAt(filepath.Join(t.TempDir(), "nothing"))
	var vs []format.FieldValue
	for range 3 {
		vs, _ = s.Sample(vs[:0], nil)
	}
	if err := s.err(); err == nil || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("Err() = %v, want one sentence", err)
	}
	for _, f := range []format.Field{format.FieldUser, format.FieldGoroutines, format.FieldCPUs} {
		if _, ok := fieldOf(vs, f); !ok {
			t.Errorf("%v is absent, although it does not need /proc", f)
		}
	}
}

// TestLimitsIsNoBeat: the first beat after Limits has all fields. Otherwise a recording
// shorter than two beats would not have the CPU time of other programs.
func TestLimitsIsNoBeat(t *testing.T) {
	s := New()
	s.Limits(nil)
	values, _ := s.Sample(nil, nil)
	for _, f := range []format.Field{format.FieldMachineBusy, format.FieldThreadCPU} {
		if !slices.ContainsFunc(values, func(v format.FieldValue) bool { return v.Field == f }) {
			t.Errorf("the first beat lacks %v: %v; %v", f, values, s.err())
		}
	}
}
