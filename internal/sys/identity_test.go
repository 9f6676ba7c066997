package sys

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestGoids compares the id read from memory with the one that runtime.Stack
// prints, on many goroutines, with new and reused structs.
func TestGoids(t *testing.T) {
	ids := NewGoids()
	if want := haveStubs && !failGoid; ids.Fast() != want {
		t.Errorf("fast: %t, want %t", ids.Fast(), want)
	}
	var mu sync.Mutex
	seen := map[uint64]bool{}
	for range 20 {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				id, want := ids.Get(), stackID()
				runtime.Gosched()
				again := ids.Get()
				mu.Lock()
				defer mu.Unlock()
				if id != want || id != again || id == 0 || seen[id] {
					t.Errorf("the id is %d, later %d, want %d; seen before: %t", id, again, want, seen[id])
				}
				seen[id] = true
			})
		}
		wg.Wait()
	}
}

// TestClock checks that time advances, across all CPUs, and at the rate of the
// monotonic clock.
func TestClock(t *testing.T) {
	c := NewClock()
	if c.Counter() != (c.Reason == "") || !c.StillTrusted() {
		t.Errorf("counter %t, reason %q, trusted %t", c.Counter(), c.Reason, c.StillTrusted())
	}
	// Handed from goroutine to goroutine, the time must not go back.
	baton := make(chan int64)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for last := range baton {
				if now := c.Now(); now < last || now <= 0 {
					t.Errorf("%d after %d", now, last)
				}
			}
		})
	}
	for range 10_000 {
		baton <- c.Now()
	}
	close(baton)
	wg.Wait()

	// Take the best of several: a loaded machine disturbs most of them.
	var errors []float64
	for range 20 {
		rate, a := c.Rate(2*time.Millisecond), c.Read(8)
		time.Sleep(5 * time.Millisecond)
		b := c.Read(8)
		if a.Mono >= b.Mono || a.Ticks >= b.Ticks || a.Bracket < 0 {
			t.Fatalf("%+v, then %+v", a, b)
		}
		want := float64(b.Mono - a.Mono)
		errors = append(errors, max(want, float64(b.Ticks-a.Ticks)/float64(rate)*1e9)/min(want, float64(b.Ticks-a.Ticks)/float64(rate)*1e9)-1)
	}
	if best := slices.Min(errors); best > 0.001 {
		t.Errorf("the rate is off by %.4f %% at best", best*100)
	}
	r, now := c.Read(4), time.Now()
	if d := now.UnixNano() - r.Wall; d < 0 || d > int64(time.Second) {
		t.Errorf("the wall clock was read %d ns ago", d)
	}
}

// TestCPUTimes consumes CPU time and measures it.
func TestCPUTimes(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	u0, s0 := ProcessCPU()
	cpu0, tid0, ok := ThreadCPU()
	if !ok {
		t.Skip("the thread's CPU time can't be read here")
	}
	for ok {
		cpu, tid, _ := ThreadCPU()
		if tid != tid0 || cpu < cpu0 {
			t.Fatalf("thread %d has used %d ns, before %d had used %d", tid, cpu, tid0, cpu0)
		}
		if cpu-cpu0 > int64(20*time.Millisecond) {
			break
		}
	}
	u1, s1 := ProcessCPU()
	if d := u1 + s1 - u0 - s0; d < int64(10*time.Millisecond) || u1 < u0 || s1 < s0 {
		t.Errorf("a thread used 20 ms, the process %v", time.Duration(d))
	}
}

func TestLockIsSeen(t *testing.T) {
	name := t.TempDir() + "/f"
	a, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	b := filetest.Open(t, name)
	if !TryLock(a) {
		t.Error("a new file can't be locked")
	}
	if runtime.GOOS == "linux" && TryLock(b) {
		t.Error("a locked file was locked again")
	}
	a.Close()
	if !TryLock(b) {
		t.Error("the lock outlives its descriptor")
	}
}
