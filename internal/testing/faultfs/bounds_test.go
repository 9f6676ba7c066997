//go:build linux && !scope_off

package faultfs_test

import (
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// TestG7 counts the page faults of a thread that records.
func TestG7(t *testing.T) {
	quiet(t)
	n := 1_000_000
	perBacking(t, func(t *testing.T, backing string) {
		path := filepath.Join(t.TempDir(), "t.scope")
		if err := scope.Start(path, scope.WithBacking(victim.Backings()[backing])); err != nil {
			t.Fatal(err)
		}
		defer scope.Stop()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		record := func() {
			for i := range n {
				scope.Task("fault")()
				if i%4096 == 0 {
					time.Sleep(100 * time.Microsecond) // two processors do other things too
				}
			}
		}
		record()
		// Our own faults recur each time. Other programs that sync all disks, or allocate
		// memory, cause faults too.
		busy, before := int64(math.MaxInt64), int64(0)
		for range 3 {
			before = faults(t)
			record()
			if busy = min(busy, faults(t)-before); busy == 0 {
				break
			}
		}
		lost := scope.Stats().Lost.Total()
		idle := int64(-1)
		if faultfs.Full() {
			// Longer than the kernel leaves pages dirty: by then it has written them and
			// taken them back, but for what the flusher makes writable again each second.
			deadline := time.Now().Add(45 * time.Second)
			for time.Now().Before(deadline) {
				time.Sleep(time.Second)
			}
			before = faults(t)
			record()
			idle = faults(t) - before
		}
		s := scope.Stats()
		// The Go path has tables on the Go heap, where pages come and go as the collector
		// likes, and the thread may be taken for its work.
		most := int64(0)
		if !strings.HasPrefix(scope.Stats().Recorder, "assembly") {
			most = int64(n) / 10_000
		}
		if busy > most || s.PageFaults > 0 {
			t.Errorf("%d scopes took %d page faults, Stats says %d", n, busy, s.PageFaults)
		}
		if idle > max(most, 16) {
			t.Errorf("%d scopes after 45 s without any took %d page faults", n, idle)
		}
		t.Logf("G7: %s: %d scopes, %d page faults; after 45 s without a scope %s; %d lost", backing, n, busy, known(idle), lost)
	})
}

func known(n int64) string {
	if n < 0 {
		return "not measured in short"
	}
	return strconv.FormatInt(n, 10)
}

// faults are those of the calling thread.
func faults(t *testing.T) int64 {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return u.Minflt + u.Majflt
}

// within is Numbers in a scope that is open all the time.
func within(w *victim.Worker) {
	defer scope.Begin("within").End()
	w.Also(1)
	victim.Numbers(w)
}

// TestG10 records many times what a ring has, in a memory cgroup that is little
// larger than the ring. The scopes that began with the recording are in the trace at the end.
func TestG10(t *testing.T) {
	quiet(t)
	const ring = 16 << 20
	events := int64(96 << 20)
	if faultfs.Full() {
		events = 2 << 30
	}
	perBacking(t, func(t *testing.T, backing string) {
		limit := int64(ring + 32<<20)
		switch backing {
		case "heap":
			limit += 128 << 20 // what may wait in memory
		case "shm":
			limit = 320 << 20 // of which it takes a sixteenth for what waits
		}
		m := faultfs.MemoryGroup(t, limit)
		v := victim.Start(t, victim.Config{
			Path: filepath.Join(t.TempDir(), "t.scope"), Backing: backing, Ring: ring,
			Workers: 4, Burst: 512, Pause: time.Millisecond, Scopes: uint64(events / 64 / 4), Work: "within", Hold: true, Patience: 4 * time.Minute,
		})
		m.Add(t, v.PID)
		v.Release(t)
		most := int64(0)
		v.Until(t, "all scopes", func() bool { most = max(most, m.Usage(t)); return v.Gone() })
		v.Wait(t)
		f := v.Check(t, v.Config.Path)
		ended(t, v.Config.Path, "within", 4)
		if m.Kills(t) != 0 {
			t.Errorf("the kernel killed %d times", m.Kills(t))
		}
		if bound := int64(ring + 64<<20); m.Peak(t) > bound && backing != "heap" {
			t.Errorf("%d bytes were taken, at most %d may be", m.Peak(t), bound)
		}
		t.Logf("G10: %s: %d MiB of records through a ring of %d MiB: %v; memory at most %d MiB of %d, %d MiB of it the file's, 0 kills",
			backing, events>>20, ring>>20, f, m.Peak(t)>>20, limit>>20, m.Cache(t)>>20)
	})
}

// ended finds n scopes of a name in a trace, all ended, and all overwritten.
func ended(t *testing.T, path, name string, n int) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind == format.KindTask && tr.Name(e.Name) == name {
			n--
			if e.Open || !e.Overwritten {
				t.Errorf("a scope that began with the recording and ended is open: %t, overwritten: %t", e.Open, e.Overwritten)
			}
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
	if n != 0 {
		t.Errorf("%d scopes that began with the recording are missing", n)
	}
}

// TestG11 looks at what a trace takes on disk while much more is recorded than it may.
func TestG11(t *testing.T) {
	quiet(t)
	const bound = 16 << 20
	events := int64(48 << 20)
	if faultfs.Full() {
		events = 1 << 30
	}
	for _, mode := range []string{"limit", "ring"} {
		t.Run(mode, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing string) {
				c := victim.Config{
					Path: filepath.Join(t.TempDir(), "t.scope"), Backing: backing,
					Workers: 4, Burst: 512, Pause: time.Millisecond, Scopes: uint64(events / 64 / 4), Patience: 4 * time.Minute,
				}
				// One chunk more for what the file system needs itself to find the others. A
				// ring has chunk 0 and what is never overwritten besides: names and facts, in
				// one chunk here, and four that are ready for more.
				most := int64(bound + 1<<16)
				if mode == "limit" {
					c.Limit = bound
				} else {
					c.Ring = bound
					most += 6 << 16
				}
				v := victim.Start(t, c)
				largest, samples := int64(0), 0
				v.Until(t, "all scopes", func() bool {
					largest = max(largest, faultfs.Allocated(t, c.Path))
					samples++
					return v.Gone()
				})
				v.Wait(t)
				f := v.Check(t, c.Path)
				if largest > most {
					t.Errorf("the file took %d bytes, at most %d may be", largest, most)
				}
				t.Logf("G11: %s, %s of %d MiB: %d MiB of records: %v; on disk at most %d bytes of %d in %d looks",
					mode, backing, bound>>20, events>>20, f, largest, most, samples)
			})
		})
	}
}
