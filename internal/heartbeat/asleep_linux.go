package heartbeat

import (
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Asleep reports whether the program is deadlocked apart from the caller, and goroutines that wait
// for it: no timer is pending, and no goroutine waits for the network or is in a system call. If so
// it takes 0.1 s, otherwise less. The caller's package must have no timers meanwhile.
//
// An idle thread waits in a futex, without a timeout. If there are timers, or goroutines that wait
// for a descriptor, one thread waits in epoll. To check that threads would wait in epoll now,
// Asleep sets a timer of its own; once it is stopped, no thread may be in epoll. Go's monitor is
// the only thread that waits with a timeout. Go's metrics count a goroutine in a system call,
// whatever its thread waits in. Programs with C code are never reported: Go itself detects no
// deadlock in them.
//
// On a busy machine a thread that has just begun to wait, and Go's monitor between two waits,
// appear to be running for some ms, so the checks are repeated.
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

// The number of attempts of each check of Asleep, and the time between them. The time is shorter
// than that after which Go's monitor takes the P of a goroutine that sleeps in a system call, so
// that the monitor sleeps longer and longer meanwhile.
const (
	tries   = 20
	between = 5 * time.Millisecond
)

// nap sleeps holding its thread, and not its P; time.Sleep holds neither.
func nap(d time.Duration) bool {
	ts := unix.NsecToTimespec(int64(d))
	return unix.Nanosleep(&ts, nil) == nil
}

// idle reports whether all goroutines but the caller wait. It tries repeatedly, as one that has
// just been woken may not wait again yet.
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

// polls reports whether want threads wait in epoll, and the others for work.
func (s *Sampler) polls(want int) bool {
	for range tries {
		if s.waitsNow() == want {
			return true
		}
		nap(between)
	}
	return false
}

// waitsNow returns the number of threads that wait in epoll, or -1 if a thread does anything but
// wait for work.
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
	var own, timed int // numbers of threads
	for _, name := range r.names {
		if name == "." || name == ".." {
			continue
		}
		b, err := r.readFile(dir, name+"/syscall")
		f := strings.Fields(string(b))
		if err == nil && len(f) == 1 { // it runs: Go's monitor between two waits, or another thread, which makes timed exceed 1
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
