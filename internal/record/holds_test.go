//go:build !scope_off

package record_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	. "github.com/scopeview/scopeview/scope"
)

// TestLockBelowThreshold holds locks with Lock, for longer and shorter than the
// threshold.
func TestLockBelowThreshold(t *testing.T) {
	const never = time.Hour
	addrOf := func(mu *sync.Mutex) uint64 {
		l := any(mu)
		return uint64(sys.Object(&l))
	}
	brief := func(l sync.Locker) { Lock(l, "l")() }
	waited := func(t *testing.T, mu *sync.Mutex) { // another goroutine waits when it ends
		unlock := Lock(mu, "l")
		done := make(chan bool)
		go func() { brief(mu); done <- true }()
		until(t, "the other to wait", func() bool { return record.WaitersOf(addrOf(mu)).Load() > 0 })
		unlock()
		<-done
	}
	hold := `hold "l" | addr goid:0 uint:256`
	wait := `wait "l" | addr goid:0 uint:256`
	for _, c := range []struct {
		name string
		opts []Option
		do   func(t *testing.T, mu *sync.Mutex)
		want []string
	}{
		{"not given", nil, func(_ *testing.T, mu *sync.Mutex) { brief(mu) }, []string{`hold "l" | addr goid:0 uint:258`}},
		{"all", []Option{WithLockThreshold(LockThreshold(never)), WithLockThreshold(LocksAll)}, func(_ *testing.T, mu *sync.Mutex) { brief(mu) }, []string{`hold "l" | addr goid:0 uint:258`}},
		{"off", []Option{WithLockThreshold(LockThreshold(LocksOff))}, func(_ *testing.T, mu *sync.Mutex) { brief(mu) }, nil},
		{"below", []Option{WithLockThreshold(LockThreshold(never))}, func(_ *testing.T, mu *sync.Mutex) { brief(mu); brief(mu) }, nil},
		{"above", []Option{WithLockThreshold(LockThreshold(time.Nanosecond))}, func(_ *testing.T, mu *sync.Mutex) { brief(mu) }, []string{hold}},
		{"left out", []Option{WithLockThreshold(LockThreshold(time.Nanosecond)), WithFilter("-l")}, func(_ *testing.T, mu *sync.Mutex) { brief(mu) }, nil},
		{"below, and waited for", []Option{WithLockThreshold(LockThreshold(never))}, waited, []string{hold, wait}},
		{"above, after a wait", []Option{WithLockThreshold(LockThreshold(time.Nanosecond))}, waited, []string{hold, wait, hold}},
		{"no TryLock, brief", []Option{WithLockThreshold(LockThreshold(never))}, func(*testing.T, *sync.Mutex) { brief(&slow{}) }, nil},
		{"no TryLock, long", []Option{WithLockThreshold(LockThreshold(time.Millisecond))}, func(*testing.T, *sync.Mutex) { brief(&slow{2 * time.Millisecond}) },
			[]string{`wait "l" | addr goid:0 uint:0`, `hold "l" | addr goid:0 uint:0`}},
		{"one of ours", []Option{WithLockThreshold(LockThreshold(time.Nanosecond))}, func(*testing.T, *sync.Mutex) { brief(&Mutex{}) }, nil},
		{"one of ours for reading", []Option{WithLockThreshold(LockThreshold(time.Nanosecond))}, func(*testing.T, *sync.Mutex) { brief(new(RWMutex).RLocker()) }, nil},
		{"across Stop and Start", []Option{WithLockThreshold(LockThreshold(time.Nanosecond))}, func(t *testing.T, mu *sync.Mutex) {
			unlock := Lock(mu, "l")
			stop(t)
			unlock()
			start(t, WithLockThreshold(LockThreshold(time.Nanosecond)))
			unlock = Lock(mu, "l")
			stop(t)
			start(t, WithLockThreshold(LockThreshold(time.Nanosecond)))
			unlock()
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				var mu sync.Mutex
				start(t, append(slices.Clone(c.opts), backing)...)
				c.do(t, &mu)
				if !mu.TryLock() {
					t.Fatal("the lock is still held")
				}
				r := stop(t)
				var got []string
				for _, l := range r.lines() {
					l, _, _ = strings.Cut(l, " || held_ns=") // if the P had another chunk, or none, when it began
					got = append(got, l)
				}
				slices.Sort(got)
				if slices.Sort(c.want); !slices.Equal(got, c.want) {
					t.Errorf("recorded %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestLockThatIsLong holds a lock while chunks come and go: its duration is recorded
// in any case.
func TestLockThatIsLong(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		const long = 30 * time.Millisecond
		for deadline := time.Now().Add(10 * time.Second); !holdsForLong(t, backing, long) && time.Now().Before(deadline); {
		}
	})
}

// holdsForLong returns false if records were lost, because the hold may be one of
// them.
func holdsForLong(t *testing.T, backing Option, long time.Duration) bool {
	start(t, backing, WithLockThreshold(LockThreshold(long)))
	var mu sync.Mutex
	at := time.Now()
	unlock := Lock(&mu, "l")
	held := time.Now() // locking may take a while, which is not part of the hold
	for n := 0; n < 5000 || time.Since(held) < long+time.Millisecond; n++ {
		Task("fill")()
		if n%500 == 499 {
			time.Sleep(time.Millisecond) // otherwise many are lost
		}
	}
	unlock()
	most := time.Since(at)
	r := stop(t)
	if n := Stats().Lost.Total(); n > 0 {
		t.Logf("%d records were lost", n)
		return false
	}
	if got := r.named("l"); len(got) != 1 {
		t.Fatalf("%d records of the lock, want its hold", len(got))
	}
	e := r.named("l")[0]
	took := time.Duration(e.Dur)
	if ns, ok := strings.CutPrefix(e.endArgs, "held_ns=int:"); ok {
		n, _ := strconv.ParseInt(ns, 10, 64)
		took = time.Duration(n)
		t.Logf("it is shown from %v after it began on", took-time.Duration(e.Dur))
	}
	if took < long || took > most {
		t.Errorf("a hold of %v, want from %v to %v: %v", took, long, most, e.endArgs)
	}
	return true
}

// TestLockThresholdHasTheLastWord: of an option that is given twice, the last one
// counts.
func TestLockThresholdHasTheLastWord(t *testing.T) {
	var o record.Options
	WithLockThreshold(LockThreshold(time.Second))(&o)
	if !o.BriefLocks() {
		t.Error("it does not hold for Lock")
	}
	WithLockThreshold(LocksAll)(&o)
	if o.BriefLocks() {
		t.Error("it holds for Lock, which is to record all")
	}
}

// TestReleasesLookedAtAgain: a goroutine that begins to wait when there is time again makes
// releases be checked, however rare they are: otherwise the holder of a rarely released lock would
// stay unknown.
func TestReleasesLookedAtAgain(t *testing.T) {
	start(t)
	const addr = 0x7300
	defer record.SetHookShares(5000, 5000, 5000)
	waits := []record.HookedWait{record.BeginHookedWait(addr, record.MutexWhat)}
	record.SetHookShares(0, 0, 0)
	until(t, "releases to pass by", func() bool {
		record.HookedUnlock(addr, record.MutexWhat)
		return record.ReleasesPass()
	})
	record.SetHookShares(5000, 5000, 5000)
	begin := time.Now()
	until(t, "releases to be looked at", func() bool {
		waits = append(waits, record.BeginHookedWait(addr, record.MutexWhat))
		return !record.ReleasesPass()
	})
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("they were looked at after %v", took)
	}
	for _, w := range waits {
		record.EndHookedWait(addr, w)
	}
}
