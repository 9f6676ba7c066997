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
func (s *Sampler) Asleep() bool {
	const polled = 60 * time.Millisecond
	if runtime.NumCgoCall() > 0 || !s.idle() {
		return false
	}
	t := time.AfterFunc(polled, func() {})
	defer t.Stop()
	return nap(polled/2) && s.waits() == 1 && nap(polled) && s.waits() == 0 && s.idle() && nap(polled/5) && s.waits() == 0 && s.idle()
}

// nap holds its thread, and not its P, as time.Sleep does not.
func nap(d time.Duration) bool {
	ts := unix.NsecToTimespec(int64(d))
	return unix.Nanosleep(&ts, nil) == nil
}

// idle reports whether all goroutines but the caller wait.
func (s *Sampler) idle() bool {
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

// waits is how many threads wait in epoll; -1: one does something else than to wait for work. Go's
// monitor may be awake, so it looks several times.
func (s *Sampler) waits() (polls int) {
	for range 20 {
		if polls = s.waitsNow(); polls >= 0 {
			break
		}
		nap(time.Millisecond)
	}
	return polls
}

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
		if err != nil || len(f) < 5 { // it runs
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
