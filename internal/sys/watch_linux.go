package sys

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inheritThread is attr.inherit_thread, of Linux 5.13: events are inherited by the threads that a
// thread creates, but not by child processes.
const inheritThread = 1 << 35

// Watching selects what the kernel reports of a thread. Every record ends with u32 pid, u32 tid,
// u64 time, u32 cpu, u32 0 and u64 id of the event, except for samples, which consist of these.
type Watching struct {
	Type     uint32 // of a counter: PERF_TYPE_SOFTWARE or PERF_TYPE_HARDWARE
	Config   uint64
	Every    uint64 // a sample is taken each time the counter has advanced by this; 0: no counter
	User     bool   // count only in user mode
	Stack    uint32 // bytes of the stack in a sample, from the stack pointer on: a multiple of 8
	Address  bool   // samples have the accessed address, and neither callers nor weight
	Switches bool   // report when the thread goes on and off the CPU: each costs about a microsecond
	Tasks    bool   // report when threads begin and end
	Maps     bool   // report mappings of code, and the program's name
	Children bool   // also watch the processes that it creates
}

// register is the register in samples with a part of the stack (asm/perf_regs.h): the one that
// locates the return address in a function without a frame; on amd64 the stack pointer.
var register = map[string]int{"amd64": 7, "arm64": 30}

// Watch makes the kernel report events of the thread, on a CPU, and of the threads that it
// creates. Without a ring, a descriptor reports nothing. The callers in a sample do not include
// the kernel's.
func Watch(tid, cpu int, w Watching) (fd int, id uint64, err error) {
	attr := unix.PerfEventAttr{
		Type: w.Type, Config: w.Config, Sample: w.Every,
		Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_CPU,
		Read_format: unix.PERF_FORMAT_ID | unix.PERF_FORMAT_LOST,
		Bits:        unix.PerfBitExcludeHv | unix.PerfBitInherit | unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark,
		Wakeup:      1 << 31, // no thread waits for the ring to fill
		Clockid:     unix.CLOCK_MONOTONIC,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	set := func(want bool, bits uint64) {
		if want {
			attr.Bits |= bits
		}
	}
	set(w.User || w.Every == 0, unix.PerfBitExcludeKernel)
	set(w.Switches, unix.PerfBitContextSwitch)
	set(w.Tasks, unix.PerfBitTask)
	set(w.Maps, unix.PerfBitMmap|unix.PerfBitMmap2|unix.PerfBitComm)
	set(!w.Children, inheritThread)
	switch {
	case w.Every == 0:
		attr.Type, attr.Config = unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_DUMMY
	case w.Address:
		attr.Sample_type |= unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_ADDR
	default:
		attr.Sample_type |= unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_PERIOD | unix.PERF_SAMPLE_CALLCHAIN
		attr.Bits |= unix.PerfBitExcludeCallchainKernel
	}
	if n := register[runtime.GOARCH]; w.Stack > 0 && n > 0 {
		attr.Sample_type |= unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER
		attr.Sample_regs_user, attr.Sample_stack_user = 1<<n, w.Stack
	}
	fd, err = unix.PerfEventOpen(&attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == unix.EINVAL { // before Linux 6.0: see Lost
		attr.Read_format &^= unix.PERF_FORMAT_LOST
		fd, err = unix.PerfEventOpen(&attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	if err == unix.EINVAL && !w.Children { // child processes are watched too; their records have their pid
		attr.Bits &^= inheritThread
		fd, err = unix.PerfEventOpen(&attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	if err != nil {
		return -1, 0, err
	}
	e, err := readEvent(fd)
	if err != nil {
		CloseDescriptor(fd)
		return -1, 0, err
	}
	return fd, e.id, nil
}

// eventState is the kernel's state of an event, including those that inherited it.
type eventState struct {
	counted   int64
	id        uint64
	lost      int64 // records
	lostKnown bool
}

func readEvent(fd int) (e eventState, err error) {
	var b [24]byte
	n, err := unix.Read(fd, b[:])
	if err == nil && n < 16 {
		err = unix.EIO
	}
	if err != nil {
		return e, fmt.Errorf("reading an event gave %d bytes: %w", n, err)
	}
	le := binary.LittleEndian
	return eventState{int64(le.Uint64(b[:])), le.Uint64(b[8:]), int64(le.Uint64(b[16:])), n == len(b)}, nil
}

// Lost returns how many records of a descriptor opened by Watch found no room in its ring,
// including those of threads that inherited it. It is unknown before Linux 6.0, where only a
// record reports it, as soon as one finds room.
func Lost(fd int) (n int64, known bool) {
	e, err := readEvent(fd)
	return e.lost, e.lostKnown && err == nil
}

// Counted returns the count of a descriptor opened by Watch, including threads that inherited it.
func Counted(fd int) (n int64, known bool) {
	e, err := readEvent(fd)
	return e.counted, err == nil
}

// Look enables or disables the event of fd, also in threads that inherited it.
func Look(fd int, look bool) error {
	what := uint(unix.PERF_EVENT_IOC_DISABLE)
	if look {
		what = unix.PERF_EVENT_IOC_ENABLE
	}
	return unix.IoctlSetInt(fd, what, 0)
}

// EventRing is the ring into which the kernel writes the events of one CPU.
type EventRing struct {
	fd   int
	mem  []byte // a page of its state, then the data
	data []byte
}

// NewEventRing gives fd a ring of pages pages, a power of two.
func NewEventRing(fd, pages int) (*EventRing, error) {
	page := os.Getpagesize()
	mem, err := unix.Mmap(fd, 0, (1+pages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(mem, unix.MADV_DONTFORK)
	return &EventRing{fd, mem, mem[page:]}, nil
}

// Take makes the kernel write the events of fd, which is for the same CPU, into the ring.
func (r *EventRing) Take(fd int) error {
	return unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, r.fd)
}

// Size returns how many bytes the kernel can write before they are read.
func (r *EventRing) Size() int { return len(r.data) }

// Read appends to b what the kernel has written since the last call, and frees the room.
func (r *EventRing) Read(b []byte) []byte {
	// The fields data_head and data_tail of the kernel's perf_event_mmap_page.
	head := atomic.LoadUint64((*uint64)(unsafe.Pointer(&r.mem[1024])))
	tail := (*uint64)(unsafe.Pointer(&r.mem[1032]))
	from := *tail
	n := head - from
	if n > uint64(len(r.data)) {
		n = 0 // impossible
	}
	at := from & uint64(len(r.data)-1)
	first := min(n, uint64(len(r.data))-at)
	b = append(b, r.data[at:at+first]...)
	b = append(b, r.data[:n-first]...)
	atomic.StoreUint64(tail, head)
	return b
}

// Close unmaps the ring's memory. Its descriptor stays open.
func (r *EventRing) Close() {
	_ = unix.Munmap(r.mem)
	r.mem, r.data = nil, nil
}

// CloseDescriptor closes a descriptor opened by Watch.
func CloseDescriptor(fd int) { _ = unix.Close(fd) }

// Monotonic returns the time by the clock that Watch uses.
func Monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// ProcessClock returns the CPU time of all threads of the process, including those that have
// ended.
func ProcessClock() (ns int64, ok bool) { return cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// CPUOf returns the CPU time of a thread of this process.
func CPUOf(tid int) (ns int64, ok bool) {
	const ofThread, scheduled = 4, 2 // the kernel's CPUCLOCK_PERTHREAD_MASK, CPUCLOCK_SCHED
	return cpuClock(int32(^tid<<3 | ofThread | scheduled))
}

func cpuClock(id int32) (int64, bool) {
	var ts unix.Timespec
	_, _, err := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&ts)), 0) // it never blocks
	return ts.Nano(), err == 0
}

// Filtered reports whether a seccomp filter applies to the calling thread's system calls: it may
// end the process for an unknown one. Call it right before such a call, because a filter may be
// installed at any time.
//
// It uses a system call that Go's runtime itself makes whenever the heap grows (prctl, as for
// PR_SET_VMA), so a filter that ends the program for it ends every Go program. It takes 0.1 µs,
// needs neither a descriptor nor /proc, and reports on the calling thread; /proc/self/status would
// report on the first one.
func Filtered() bool {
	mode, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_GET_SECCOMP, 0, 0, 0, 0, 0)
	return mode != 0 && errno != unix.EINVAL // EINVAL: a kernel built without it
}
