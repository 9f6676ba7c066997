//go:build linux && amd64 && !scope_off && !scope_pure && !scope_go && !scope_norseq && !scope_noyield && !scope_nogoid && !race

package cputest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"

	"golang.org/x/sys/unix"
)

// lockedScope is a scope of a goroutine that is locked to its thread and only
// computes, with what the kernel knows of the thread.
type lockedScope struct {
	trace.Event
	start, end threadClock // inside
	wall       int64       // from before to after
	queued     int64       // in that time, or a little less: to run, and not running
	drift      int64       // see recorded.drift
}

// queue is the thread's own file with its time in the run queue.
type queue struct{ file *os.File }

func openQueue() (queue, error) {
	f, err := os.Open("/proc/thread-self/schedstat")
	return queue{f}, err
}

func (q queue) read() int64 {
	var b [128]byte
	n, _ := q.file.ReadAt(b[:], 0)
	if f := bytes.Fields(b[:n]); len(f) > 1 {
		ns, _ := strconv.ParseInt(string(f[1]), 10, 64)
		return ns
	}
	return 0
}

// recordLocked runs n scopes on each of some threads at once, all on CPU number
// cpu (-1: any), that compute for burn of CPU time each.
func recordLocked(t *testing.T, threads, cpu, n int, burn time.Duration) [][]lockedScope {
	t.Helper()
	path := filepath.Join(t.TempDir(), "locked.scope")
	if err := scope.Start(path); err != nil {
		t.Fatal(err)
	}
	all := make([][]lockedScope, threads)
	ids := make([]uint64, threads)
	errs := make([]error, threads)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	for i := range threads {
		done.Go(func() {
			// Never unlocked: the thread, which is bound to a CPU, ends.
			runtime.LockOSThread()
			q, err := openQueue()
			if cpu >= 0 && err == nil {
				var set unix.CPUSet
				set.Set(cpu)
				err = unix.SchedSetaffinity(0, &set)
			}
			ids[i], errs[i] = goids.Get(), err
			ready.Done()
			ready.Wait()
			for range n {
				var s lockedScope
				from := sys.Mono()
				queued := q.read()
				s.run(int64(burn))
				s.queued = q.read() - queued
				s.wall = sys.Mono() - from
				all[i] = append(all[i], s)
			}
			q.file.Close()
		})
	}
	done.Wait()
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(errs...); err != nil {
		t.Skip(err)
	}
	r := readScopes(t, path)
	for i, id := range ids {
		if len(r.scopes[id]) != n {
			t.Fatalf("%d scopes were recorded, not %d", len(r.scopes[id]), n)
		}
		for k := range n {
			s := &all[i][k]
			s.Event = r.scopes[id][k]
			s.drift, _ = r.drift(&s.Event, s.start)
		}
	}
	return all
}

func (s *lockedScope) run(burn int64) {
	defer scope.Task(checkedName)()
	s.start = now()
	for s.end = s.start; s.end.cpu-s.start.cpu < burn; s.end = now() {
		spin(20 * time.Microsecond)
	}
}

// least is the CPU time between the readings inside of the scope.
func (s *lockedScope) least() int64 { return s.end.cpu - s.start.cpu }

// most is the time of the thread on the CPU: it only computed, so all time in which it
// was not queued. Its CPU clock may have less: it does not count time that the
// machine's host took.
func (s *lockedScope) most() int64 { return s.wall - s.queued }

// Threads that share one CPU: each is switched out all the time, and what the
// other uses meanwhile is not its own.
func TestThreadsOnOneCPU(t *testing.T) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Skipf("the CPUs of this process are not known: %v", err)
	}
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	n := times(400)
	all := recordLocked(t, 2, cpu, n, 1500*time.Microsecond)
	switched := 0
	var total, first, last int64
	for i := range all {
		for k := range all[i] {
			s := &all[i][k]
			if first == 0 || s.Start < first {
				first = s.Start
			}
			last = max(last, s.Start+s.Dur)
			total += s.CPU
			known := s.Quality == format.Exact || s.Quality == format.Likely
			if known && s.queued > 500_000 {
				switched++
			}
			much := known && s.CPU > s.most()+tolerance
			little := s.Quality != format.Unknown && s.CPU < s.least()-s.drift-tolerance
			if much || little {
				t.Errorf("thread %d, scope %d: %v, %v of %v; the kernel says %v to %v, and a drift of %v", i, k, s.Quality, ns(s.CPU), ns(s.Dur), ns(s.least()), ns(s.most()), ns(s.drift))
			}
		}
	}
	if switched < n/10 {
		t.Errorf("only %d of 2×%d scopes were switched out and have a CPU time", switched, n)
	}
	if total > last-first+tolerance {
		t.Errorf("two threads on one CPU used %v in %v", ns(total), ns(last-first))
	}
	t.Logf("%d scopes were switched out; %v CPU time in %v", switched, ns(total), ns(last-first))
}

// TestAccuracy measures the accuracy of CPU times, with scopes of known CPU time.
func TestAccuracy(t *testing.T) {
	cases := []struct {
		burn time.Duration
		n    int
	}{
		{50 * time.Microsecond, 2000},
		{time.Millisecond, 400},
		{5 * time.Millisecond, 100},
	}
	for _, c := range cases {
		t.Run(c.burn.String(), func(t *testing.T) {
			var errs []int64
			alone := 0 // had their CPU from begin to end
			all := recordLocked(t, 1, -1, times(c.n), c.burn)[0]
			for i := range all {
				if s := &all[i]; s.Quality == format.Exact || s.Quality == format.Likely {
					errs = append(errs, s.CPU-s.least())
				}
				if all[i].queued == 0 {
					alone++
				}
			}
			if len(errs) < alone/4 {
				t.Fatalf("only %d of %d scopes have a CPU time, and %d had a CPU for themselves", len(errs), times(c.n), alone)
			}
			if len(errs) == 0 {
				t.Skipf("the machine is too busy: %d of %d scopes had a CPU for themselves", alone, times(c.n))
			}
			t.Logf("%d scopes, of %d that had a CPU for themselves, CPU beyond what the kernel says: %s", len(errs), alone, spread(errs))
			if m := median(errs); m < -tolerance || m > tolerance {
				t.Errorf("half of them are off by more than %v", ns(m))
			}
		})
	}
}
