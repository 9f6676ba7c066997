package heartbeat

import (
	"fmt"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

func TestParseSchedstat(t *testing.T) {
	for _, c := range []struct {
		in        string
		cpu, wait int64
		ok        bool
	}{
		{"68982 57033 2\n", 68982, 57033, true},
		{"0 0 0\n", 0, 0, true},
		{"", 0, 0, false},
		{"1 2", 0, 0, false},
		{"1 -2 3\n", 0, 0, false},
		{"1  2 3\n", 0, 0, false},
		{"99999999999999999999 1 1\n", 0, 0, false},
	} {
		cpu, wait, err := parseSchedstat([]byte(c.in))
		if cpu != c.cpu || wait != c.wait || (err == nil) != c.ok {
			t.Errorf("parseSchedstat(%q) = %d, %d, %v, want %d, %d, ok %v", c.in, cpu, wait, err, c.cpu, c.wait, c.ok)
		}
	}
}

// threadTree returns a task directory with n threads; thread i ran i µs and waited
// i ns.
func threadTree(n int) map[string]string {
	files := make(map[string]string)
	for i := 1; i <= n; i++ {
		files[fmt.Sprintf("proc/42/task/%d/schedstat", i)] = fmt.Sprintf("%d %d 1\n", i*1000, i)
	}
	return files
}

func TestBusiestThreadsAreListed(t *testing.T) {
	root := fakeProc(t, threadTree(100))
	s, b := sampleAt(root)
	if len(b.threads) != maxThreads {
		t.Fatalf("%d threads listed, want %d", len(b.threads), maxThreads)
	}
	if first := b.threads[0]; first != (format.Thread{ID: 100, CPU: 100_000, Wait: 100}) {
		t.Errorf("first of the list is %+v, want thread 100", first)
	}
	// Threads 37 to 100 are listed, 1 to 36 are the rest.
	for f, want := range map[format.Field]int64{
		format.FieldThreadCPU:   (37 + 100) * 64 / 2 * 1000,
		format.FieldThreadWait:  (37 + 100) * 64 / 2,
		format.FieldRestThreads: 36,
		format.FieldRestCPU:     36 * 37 / 2 * 1000,
		format.FieldRestWait:    36 * 37 / 2,
	} {
		if v, ok := fieldOf(b.values, f); !ok || v != want {
			t.Errorf("%v = %d (known: %v), want %d", f, v, ok, want)
		}
	}

	// Threads are ordered by their CPU time since the last beat, not by their
	// total.
	s.process.threads.last[3] = -1e9
	s.process.threads.next = time.Time{}
	var again beat
	s.process.threads.read(&again)
	if again.threads[0].ID != 3 {
		t.Errorf("thread 3 ran most since the last beat, but %d is listed first", again.threads[0].ID)
	}
}

func TestThreadsAreReadAsOftenAsTheyAreCheap(t *testing.T) {
	root := fakeProc(t, threadTree(3))
	s, b := sampleAt(root)
	r := &s.process.threads
	if len(b.threads) != 3 {
		t.Fatalf("%d threads listed at the first beat, want 3", len(b.threads))
	}
	r.cost = time.Hour // as with very many threads
	r.next = time.Now().Add(threadShare * r.cost)
	b = beat{}
	r.read(&b)
	if len(b.threads) != 0 || len(b.values) != 0 || len(b.errs) != 0 {
		t.Errorf("a beat before its time gave %+v, want nothing", b)
	}
	r.next = time.Time{}
	from := time.Now()
	r.read(&b)
	if len(b.threads) != 3 {
		t.Errorf("%d threads listed at a beat in time, want 3", len(b.threads))
	}
	if r.cost == time.Hour {
		t.Skip("the goroutine changed its thread while it measured")
	}
	if pause := r.next.Sub(from); pause < threadShare*r.cost {
		t.Errorf("the next read is allowed after %v, want a thousand times the cost of %v", pause, r.cost)
	}
}

func TestKernelWithoutSchedulerStatistics(t *testing.T) {
	root := fakeProc(t, map[string]string{"proc/42/task/42/schedstat": "0 0 0\n"})
	_, b := sampleAt(root)
	if v, ok := fieldOf(b.values, format.FieldThreadCPU); ok {
		t.Errorf("thread CPU = %d, want it absent", v)
	}
}
