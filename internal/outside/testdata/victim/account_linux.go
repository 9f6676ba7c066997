package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// moment is a time, and the system's counts for a thread up to it.
type moment struct {
	now   int64
	usage syscall.Rusage
}

func (m *moment) clock() {
	const monotonic = 1
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&ts)), 0)
	m.now = ts.Nano()
}

func (m *moment) count() {
	const thread = 1
	_ = syscall.Getrusage(thread, &m.usage)
}

// account takes page faults, waits, and is preempted, all on one thread. It prints the thread,
// the times of begin and end, and the system's counts in between: page faults, switches to
// wait, and switches because others wanted the CPU. The times enclose the counting.
func account() error {
	runtime.LockOSThread()
	const pages, noHugePage = 500, 15
	b, err := syscall.Mmap(-1, 0, pages*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil {
		err = syscall.Madvise(b, noHugePage)
	}
	if err != nil {
		return err
	}
	others := 2 * runtime.NumCPU()
	runtime.GOMAXPROCS(others + 1)
	for range others {
		go work(time.Second)
	}
	var from, to moment
	to.count()
	to.clock()
	from.clock()
	from.count()
	touch(b)
	for range 100 {
		nap(50 * time.Microsecond)
	}
	work(100 * time.Millisecond)
	to.count()
	to.clock()
	a, z := &from.usage, &to.usage
	_, err = fmt.Fprintln(os.Stdout, syscall.Gettid(), from.now, to.now, z.Minflt+z.Majflt-a.Minflt-a.Majflt, z.Nvcsw-a.Nvcsw, z.Nivcsw-a.Nivcsw)
	return err
}

//go:noinline
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
