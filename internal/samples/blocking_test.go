package samples

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// Each of these functions waits repeatedly, for some milliseconds in all.

//go:noinline
func waitForShortHolder(mu *sync.Mutex, times int) { waitForHolder(mu, times, time.Millisecond) }

//go:noinline
func waitForLongHolder(mu *sync.Mutex, times int) { waitForHolder(mu, times, 4*time.Millisecond) }

// waitForHolder waits for a mutex that another goroutine holds for d; it is the only waiter.
//
//go:noinline
func waitForHolder(mu *sync.Mutex, times int, d time.Duration) {
	for range times {
		held := make(chan bool, 1)
		mu.Lock()
		go func() {
			held <- true
			time.Sleep(d)
			mu.Unlock()
		}()
		<-held
		mu.Lock()
		mu.Unlock()
	}
}

//go:noinline
func waitToReceive(times int) {
	c := make(chan int)
	go func() {
		for range times {
			time.Sleep(time.Millisecond)
			c <- 1
		}
	}()
	for range times {
		<-c
	}
}

//go:noinline
func waitToSend(times int) {
	c := make(chan int)
	go func() {
		for range times {
			time.Sleep(time.Millisecond)
			<-c
		}
	}()
	for range times {
		c <- 1
	}
}

//go:noinline
func waitInSelect(times int) {
	c, never := make(chan int), make(chan int)
	go func() {
		for range times {
			time.Sleep(time.Millisecond)
			c <- 1
		}
	}()
	for range times {
		select {
		case <-c:
		case <-never:
		}
	}
}

//go:noinline
func waitForOthers(times int) {
	for range times {
		var wg sync.WaitGroup
		wg.Go(func() { time.Sleep(time.Millisecond) })
		wg.Wait()
	}
}

// TestWaitsAreThoseOfGoProfiles: a program's waits by function agree with its own block
// profile, which measures them in another way, and the waits for mutexes with its mutex
// profile, which has them where the mutex was unlocked. A thread that loses its CPU between
// two readings of the clock makes them differ: one good recording out of several is enough.
func TestWaitsAreThoseOfGoProfiles(t *testing.T) {
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	before := runtime.SetMutexProfileFraction(1)
	defer runtime.SetMutexProfileFraction(before)
	for try := 1; ; try++ {
		wrong := waitsByBoth(t)
		if len(wrong) == 0 {
			return
		}
		if t.Log(strings.Join(wrong, "\n")); try == 5 {
			t.Fatalf("%d recordings differ from Go's own profiles", try)
		}
	}
}

// waitsByBoth records waits, and returns those that differ from Go's profiles.
func waitsByBoth(t *testing.T) (wrong []string) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	oldBlocks, oldMutexes := goProfile(t, "block"), goProfile(t, "mutex") // the profiles cover the process's whole life
	var mu sync.Mutex
	waitForShortHolder(&mu, 50)
	waitForLongHolder(&mu, 25)
	waitToReceive(50)
	waitToSend(50)
	waitInSelect(50)
	waitForOthers(50)
	blocks, mutexes := goProfile(t, "block"), goProfile(t, "mutex")
	end()
	p, err := OfTrace(context.Background(), tracetest.OpenFile(t, path), anything())
	if err != nil {
		t.Fatal(err)
	}
	alike := func(what string, ours, theirs int64) {
		if d := ours - theirs; max(d, -d) > theirs/50 {
			wrong = append(wrong, fmt.Sprintf("%s: %v, and by Go's own profile %v", what, time.Duration(ours), time.Duration(theirs)))
		}
	}
	for _, c := range []struct {
		metric, function string
		least            time.Duration
	}{
		{"lock", ".waitForShortHolder", 50 * time.Millisecond}, {"lock", ".waitForLongHolder", 100 * time.Millisecond},
		{"channel", ".waitToReceive", 50 * time.Millisecond}, {"channel", ".waitToSend", 50 * time.Millisecond},
		{"select", ".waitInSelect", 50 * time.Millisecond}, {"join", ".waitForOthers", 50 * time.Millisecond},
	} {
		if got := on(p, c.metric, c.function); got < int64(c.least)*98/100 {
			wrong = append(wrong, fmt.Sprintf("%s waited %v by the metric %s, and at least %v in fact", c.function, time.Duration(got), c.metric, c.least))
		}
		var ours int64 // the waiter may also have waited for the holder to begin
		for _, metric := range []string{"lock", "channel", "select", "join"} {
			ours += on(p, metric, c.function)
		}
		alike(c.function, ours, on(blocks, "delay", c.function)-on(oldBlocks, "delay", c.function))
	}
	const unlocks = ".waitForHolder.func1"
	alike(unlocks, on(p, "lock", ".waitForHolder"), on(mutexes, "delay", unlocks)-on(oldMutexes, "delay", unlocks))
	return wrong
}

// goProfile reads a profile of Go's runtime.
func goProfile(t *testing.T, name string) *Profile {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup(name).WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	p, err := OfPprof(context.Background(), &b, anything())
	if err != nil {
		t.Fatal(err)
	}
	return p
}
