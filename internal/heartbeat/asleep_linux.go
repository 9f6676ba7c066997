package heartbeat

import (
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Asleep reports whether no goroutine of the program can go on but the caller, and those that wait
// for it: no timer is to come, nobody waits for the network or is in a system call. It takes 0.1 s
// then, and otherwise less. The caller's package has no timers meanwhile.
//
// A thread that has nothing to do waits in a futex, without an end. If there are timers, or who waits
// for a descriptor, then one waits in epoll. That one does so now is seen by a timer of our own;
// when that is over nobody must. Go's monitor is the one thread that waits for a time. A goroutine
// in a system call is one for Go's metrics, whatever its thread waits in. With C code Go itself
// sees no deadlock.
//
// On a busy machine a thread that has just gone to wait, and Go's monitor between two waits, are
// seen running for some ms: it looks until they are not.
func (s *Sampler) Asleep() bool {
	if runtime.NumCgoCall() > 0 || !s.idle() {
		return false
	}
	t := time.AfterFunc(time.Minute, func() {})
	defer t.Stop()
	if !s.polls(1) {
		return false
	}
	t.Reset(between)
	nap(4 * between)
	return s.polls(0) && s.idle() && nap(4*between) && s.polls(0) && s.idle()
}

// How often Asleep looks again, and after how long: less than what has Go's monitor take the P of
// who sleeps in a system call, so that the monitor sleeps ever longer meanwhile.
const (
	tries   = 20
	between = 5 * time.Millisecond
)

// nap holds its thread, and not its P, as time.Sleep does not.
func nap(d time.Duration) bool {
	ts := unix.NsecToTimespec(int64(d))
	return unix.Nanosleep(&ts, nil) == nil
}

// idle reports whether all goroutines but the caller wait. One that has just been woken may not have
// come to wait again.
func (s *Sampler) idle() bool {
	for range tries {
		if s.idleNow() {
			return true
		}
		nap(between)
	}
	return false
}

func (s *Sampler) idleNow() bool {
	var m []metrics.Sample
	for _, state := range [...]string{"not-in-go", "runnable", "running"} {
		m = append(m, metrics.Sample{Name: "/sched/goroutines/" + state + ":goroutines"})
	}
	metrics.Read(m)
	for i := range m {
		if m[i].Value.Kind() != metrics.KindUint64 || m[i].Value.Uint64() != uint64(i/2) { // the caller runs
			return false
		}
	}
	return true
}

// polls reports whether that many threads wait in epoll, and the others for work.
func (s *Sampler) polls(want int) bool {
	for range tries {
		if s.waitsNow() == want {
			return true
		}
		nap(between)
	}
	return false
}

// waitsNow is how many threads wait in epoll; -1: one does something else than to wait for work.
func (s *Sampler) waitsNow() (polls int) {
	r := &s.process.threads
	dir, err := unix.Open(r.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	defer unix.Close(dir)
	if r.list(dir) != nil {
		return -1
	}
	var own, timed int // threads
	for _, name := range r.names {
		if name == "." || name == ".." {
			continue
		}
		b, err := r.readFile(dir, name+"/syscall")
		f := strings.Fields(string(b))
		if err == nil && len(f) == 1 { // it runs: Go's monitor, between two waits, or it is not alone
			timed++
			continue
		}
		if err != nil || len(f) < 5 {
			return -1
		}
		switch n, _ := strconv.Atoi(f[0]); {
		case n == unix.SYS_READ:
			own++
		case n == unix.SYS_EPOLL_PWAIT:
			polls++
		case n == unix.SYS_NANOSLEEP || n == unix.SYS_FUTEX && f[4] != "0x0":
			timed++
		case n != unix.SYS_FUTEX:
			return -1
		}
	}
	if own != 1 || timed > 1 {
		return -1
	}
	return polls
}
