package sys

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inheritThread is attr.inherit_thread, of Linux 5.13: what a thread watched is
// watched in the threads that it makes, and not in its child processes.
const inheritThread = 1 << 35

// WatchSwitches has the kernel tell when the thread comes onto the CPU and leaves it,
// and of the threads that it makes the same. It costs each of their switches about a
// microsecond. A descriptor without a ring tells nobody.
func WatchSwitches(tid, cpu int) (fd int, err error) {
	attr := unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_SOFTWARE,
		Config:      unix.PERF_COUNT_SW_DUMMY,
		Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_ID,
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitInherit | unix.PerfBitTask |
			unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitContextSwitch | unix.PerfBitWatermark | inheritThread,
		Wakeup:  1 << 31, // nobody waits for the ring to fill
		Clockid: unix.CLOCK_MONOTONIC,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err = unix.PerfEventOpen(&attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == unix.EINVAL {
		attr.Bits &^= inheritThread // child processes are watched too; their records tell whose they are
		fd, err = unix.PerfEventOpen(&attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	return fd, err
}

// SwitchRing is where the kernel writes what WatchSwitches asked for, of one CPU.
type SwitchRing struct {
	fd   int
	mem  []byte // a page of its state, then the data
	data []byte
}

// NewSwitchRing gives fd a ring of so many pages, a power of two.
func NewSwitchRing(fd, pages int) (*SwitchRing, error) {
	page := os.Getpagesize()
	mem, err := unix.Mmap(fd, 0, (1+pages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(mem, unix.MADV_DONTFORK)
	return &SwitchRing{fd, mem, mem[page:]}, nil
}

// Take has the kernel write into the ring what it tells of fd, which is of the same CPU.
func (r *SwitchRing) Take(fd int) error {
	return unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, r.fd)
}

// Size is how many bytes the kernel can write before they are read.
func (r *SwitchRing) Size() int { return len(r.data) }

// Read appends to b what the kernel has written since the last call, and gives it the
// room back.
func (r *SwitchRing) Read(b []byte) []byte {
	// The kernel's perf_event_mmap_page: data_head and data_tail.
	head := atomic.LoadUint64((*uint64)(unsafe.Pointer(&r.mem[1024])))
	tail := (*uint64)(unsafe.Pointer(&r.mem[1032]))
	from := *tail
	n := head - from
	if n > uint64(len(r.data)) {
		n = 0 // it can't be
	}
	at := from & uint64(len(r.data)-1)
	first := min(n, uint64(len(r.data))-at)
	b = append(b, r.data[at:at+first]...)
	b = append(b, r.data[:n-first]...)
	atomic.StoreUint64(tail, head)
	return b
}

// Close gives the ring's memory back. Its descriptor stays open.
func (r *SwitchRing) Close() {
	_ = unix.Munmap(r.mem)
	r.mem, r.data = nil, nil
}

// CloseDescriptor closes what WatchSwitches opened.
func CloseDescriptor(fd int) { _ = unix.Close(fd) }

// Monotonic is now, by the clock that WatchSwitches tells times of.
func Monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// ProcessClock is the CPU time of all threads of the process, those that ended too.
func ProcessClock() (ns int64, ok bool) { return cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// CPUOf is the CPU time of a thread of this process.
func CPUOf(tid int) (ns int64, ok bool) {
	const ofThread, scheduled = 4, 2 // the kernel's CPUCLOCK_PERTHREAD_MASK, CPUCLOCK_SCHED
	return cpuClock(int32(^tid<<3 | ofThread | scheduled))
}

func cpuClock(id int32) (int64, bool) {
	var ts unix.Timespec
	err := unix.ClockGettime(id, &ts)
	return ts.Nano(), err == nil
}

// Filtered reports whether a seccomp filter decides about the calling thread's system
// calls: it may end the process for one that it does not know. To be asked right before
// such a call, since a filter may come at any time.
//
// The call is one that Go's runtime makes itself whenever the heap grows (PR_SET_VMA), so
// that a filter that ends the program for it ends every Go program. It takes 0.1 µs, no
// descriptor and no /proc, and tells of the thread; /proc/self/status would be of the first one.
func Filtered() bool {
	mode, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_GET_SECCOMP, 0, 0, 0, 0, 0)
	return mode != 0 && errno != unix.EINVAL // a kernel built without it
}
