//go:build !scope_off

package record_test

import (
	"bytes"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

// mutex and rwmutex are the methods of locks.
type (
	mutex interface {
		sync.Locker
		TryLock() bool
	}
	rwmutex interface {
		mutex
		RLock()
		TryRLock() bool
		RUnlock()
		RLocker() sync.Locker
	}
)

var (
	_ = []mutex{new(sync.Mutex), new(Mutex)}
	_ = []rwmutex{new(sync.RWMutex), new(RWMutex)}
)

// twins are sync's locks and scope's, which must behave the same.
var twins = []struct {
	name string
	m    func() mutex
	rw   func() rwmutex
}{
	{"sync", func() mutex { return new(sync.Mutex) }, func() rwmutex { return new(sync.RWMutex) }},
	{"scope", func() mutex { return new(Mutex) }, func() rwmutex { return new(RWMutex) }},
}

// TestLocksAreDropIn runs sync's locks and scope's through the same steps and compares
// the results of TryLock, which are all that can be observed of a lock.
func TestLocksAreDropIn(t *testing.T) {
	steps := func(t *testing.T, m mutex, rw rwmutex) (found []bool) {
		see := func(ok bool) { found = append(found, ok) }
		try := func(l mutex) {
			ok := l.TryLock()
			if see(ok); ok {
				l.Unlock()
			}
		}
		tryRead := func() {
			ok := rw.TryRLock()
			if see(ok); ok {
				rw.RUnlock()
			}
		}
		try(m)
		m.Lock()
		try(m)
		done := make(chan bool)
		go func() { m.Unlock(); done <- true }() // not the goroutine that locked it
		<-done
		try(m)
		see(m.TryLock())
		m.Unlock()
		try(m)

		try(rw)
		rw.RLock()
		try(rw)
		tryRead()
		rw.RLocker().Lock()
		rw.RUnlock()
		try(rw)
		rw.RLocker().Unlock()
		try(rw)
		rw.Lock()
		try(rw)
		tryRead()
		rw.Unlock()
		tryRead()

		// A reader that comes after a writer waits behind it.
		rw.RLock()
		order := make(chan string, 2)
		go func() { rw.Lock(); order <- "writer"; rw.Unlock() }()
		until(t, "the writer to wait", func() bool {
			ok := rw.TryRLock()
			if ok {
				rw.RUnlock()
			}
			return !ok
		})
		go func() { rw.RLock(); order <- "reader"; rw.RUnlock() }()
		rw.RUnlock()
		see(<-order == "writer")
		see(<-order == "reader")

		// Cond accepts it as it does sync's.
		c := sync.NewCond(m)
		ready := false
		go func() { m.Lock(); ready = true; m.Unlock(); c.Broadcast() }()
		m.Lock()
		for !ready {
			c.Wait()
		}
		m.Unlock()
		try(m)
		return found
	}
	run := func(t *testing.T) {
		var want []bool
		for i, twin := range twins {
			got := steps(t, twin.m(), twin.rw())
			if i == 0 {
				want = got
				continue
			}
			for k := range want {
				if got[k] != want[k] {
					t.Errorf("step %d: %t, want %t", k, got[k], want[k])
				}
			}
		}
	}
	t.Run("stopped", run)
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithLockThreshold(LocksAll))
		run(t)
		stop(t)
	})
}

// misuses crash a program.
var misuses = map[string]func(m mutex, rw rwmutex){
	"unlock": func(m mutex, _ rwmutex) { m.Unlock() },
	"twice": func(m mutex, _ rwmutex) {
		m.Lock()
		m.Unlock()
		defer func() { _ = recover() }() // it is not recoverable
		m.Unlock()
	},
	"write unlock": func(_ mutex, rw rwmutex) { rw.Unlock() },
	"read unlock":  func(_ mutex, rw rwmutex) { rw.RUnlock() },
	"read unlock of writer": func(_ mutex, rw rwmutex) {
		rw.Lock()
		rw.RUnlock()
	},
}

const misuseEnv = "SCOPE_LOCK_MISUSE"

// TestLockMisuse: scope's locks crash a program as sync's do, with the same message.
func TestLockMisuse(t *testing.T) {
	if what := os.Getenv(misuseEnv); what != "" {
		lock, how, _ := strings.Cut(what, " ")
		for _, twin := range twins {
			if twin.name == lock {
				misuses[how](twin.m(), twin.rw())
			}
		}
		return
	}
	faultfs.Children(t)
	for how := range misuses {
		said := map[string]string{}
		for _, twin := range twins {
			c := exec.Command(os.Args[0], "-test.run=^TestLockMisuse$")
			c.Env = append(os.Environ(), misuseEnv+"="+twin.name+" "+how)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			if err := c.Run(); err == nil {
				t.Errorf("%s, %s: it lived", how, twin.name)
			}
			said[twin.name], _, _ = strings.Cut(stderr.String(), "\n")
		}
		if said["scope"] != said["sync"] || !strings.HasPrefix(said["scope"], "fatal error: sync: ") {
			t.Errorf("%s: said %q, want %q", how, said["scope"], said["sync"])
		}
	}
}

// TestVetSeesCopies: go vet reports copies of types whose pointer, but not whose value,
// is a sync.Locker.
func TestVetSeesCopies(t *testing.T) {
	locker := reflect.TypeFor[sync.Locker]()
	for _, v := range []reflect.Type{reflect.TypeFor[Mutex](), reflect.TypeFor[RWMutex]()} {
		if v.Implements(locker) || !reflect.PointerTo(v).Implements(locker) {
			t.Errorf("%v can be copied without vet seeing it", v)
		}
	}
}
