package sys

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Counting is what WatchCounter asks the kernel for.
type Counting struct {
	Type   uint32 // PERF_TYPE_SOFTWARE or PERF_TYPE_HARDWARE
	Config uint64
	Every  uint64 // there is a sample each time that so many were counted
	User   bool   // only of what happens in user mode
	Tasks  bool   // threads that begin and end are told of too
}

// WatchCounter has the kernel sample the thread, on a CPU, and the threads that it makes. A
// record tells the event's id, where the thread was, who, when, on which CPU, how much was
// counted, and its callers: those of the kernel are left out.
func WatchCounter(tid, cpu int, c Counting) (fd int, id uint64, err error) {
	attr := unix.PerfEventAttr{
		Type: c.Type, Config: c.Config, Sample: c.Every,
		Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME |
			unix.PERF_SAMPLE_CPU | unix.PERF_SAMPLE_PERIOD | unix.PERF_SAMPLE_CALLCHAIN,
		Read_format: unix.PERF_FORMAT_ID,
		Bits: unix.PerfBitExcludeHv | unix.PerfBitExcludeCallchainKernel | unix.PerfBitInherit | unix.PerfBitSampleIDAll |
			unix.PerfBitUseClockID | unix.PerfBitWatermark | inheritThread,
		Wakeup:  1 << 31, // nobody waits for the ring to fill
		Clockid: unix.CLOCK_MONOTONIC,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	if c.User {
		attr.Bits |= unix.PerfBitExcludeKernel
	}
	if c.Tasks {
		attr.Bits |= unix.PerfBitTask
	}
	fd, err = unix.PerfEventOpen(&attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == unix.EINVAL {
		attr.Bits &^= inheritThread // see WatchSwitches
		fd, err = unix.PerfEventOpen(&attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	if err != nil {
		return -1, 0, err
	}
	var b [16]byte // what was counted, and the id
	if n, err := unix.Read(fd, b[:]); err != nil || n < len(b) {
		CloseDescriptor(fd)
		return -1, 0, fmt.Errorf("asking for the event's id gave %d bytes: %w", n, err)
	}
	return fd, binary.LittleEndian.Uint64(b[8:]), nil
}
