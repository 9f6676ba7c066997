package outside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
)

// open opens an event for each counter on each CPU, and the switches.
func (r *recorder) open(o Options) error {
	if sys.Filtered() {
		return errors.New("recording from outside: a seccomp filter is active, and may end this program for trying (perf_event_open)")
	}
	cpus := runtime.NumCPU()
	if b, err := os.ReadFile("/sys/devices/system/cpu/online"); err == nil {
		if i := strings.LastIndexAny(strings.TrimSpace(string(b)), "-,"); i >= 0 {
			_, _ = fmt.Sscan(strings.TrimSpace(string(b))[i+1:], &cpus)
			cpus++
		}
	}
	for cpu := range cpus {
		ring, err := r.openOn(cpu, o)
		if err == unix.ENODEV {
			continue // the CPU is off
		}
		if err != nil {
			return err
		}
		r.rings = append(r.rings, ring)
	}
	return nil
}

// ringPages is how much the kernel may write for a CPU between two looks.
const ringPages = 512

// openOn opens the events of a CPU, which share a ring.
func (r *recorder) openOn(cpu int, o Options) (ring *sys.SwitchRing, err error) {
	watched := append([]Counter{{}}, o.Counters...) // the first: no counter, but what else there is to tell
	for i, c := range watched {
		fd, user, err := openEvent(r.pid, cpu, c, i == 0, !o.NoSwitches)
		if err == unix.ENODEV && i == 0 {
			return nil, err
		}
		if err != nil {
			return nil, refused(c, err)
		}
		r.fds = append(r.fds, fd)
		if user && inKernel[c.Name] {
			return nil, fmt.Errorf("the counter %s counts in the kernel, which is not for everybody to see (kernel.perf_event_paranoid; up to 1 will do, or root)", c.Name)
		}
		r.user = r.user || user
		id := make([]byte, 16)
		if n, err := unix.Read(fd, id); err != nil || n < 16 {
			return nil, fmt.Errorf("recording from outside: asking for an event's number: %w", err)
		}
		r.counters[binary.LittleEndian.Uint64(id[8:])] = c
		if ring != nil {
			if err := ring.Take(fd); err != nil {
				return nil, fmt.Errorf("recording from outside: %w", err)
			}
			continue
		}
		for pages := ringPages; ring == nil; pages /= 2 {
			if ring, err = sys.NewSwitchRing(fd, pages); err != nil && pages == 1 {
				return nil, fmt.Errorf("recording from outside: no memory for the kernel to write to (perf_event_mlock_kb, ulimit -l): %w", err)
			}
		}
	}
	return ring, nil
}

// returnsBy is where the address of the caller is in a function without a frame: the register
// (asm/perf_regs.h), and how much is asked for of the stack that it points to.
var returnsBy = map[string]struct {
	number int
	stack  uint32
}{"amd64": {7, 8}, "arm64": {30, 0}}

// openEvent has the kernel watch a process, and what it makes, on a CPU; in user mode alone,
// which it says, where no more is allowed.
func openEvent(pid, cpu int, c Counter, tell, switches bool) (fd int, user bool, err error) {
	attr := unix.PerfEventAttr{
		Size: unix.PERF_ATTR_SIZE_VER5,
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY,
		Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME |
			unix.PERF_SAMPLE_CPU | unix.PERF_SAMPLE_PERIOD | unix.PERF_SAMPLE_CALLCHAIN,
		Read_format: unix.PERF_FORMAT_ID,
		Bits: unix.PerfBitInherit | unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark |
			unix.PerfBitExcludeHv | unix.PerfBitExcludeCallchainKernel,
		Wakeup: 1 << 31, Clockid: unix.CLOCK_MONOTONIC,
	}
	if n, ok := software[c.Name]; ok {
		attr.Config = n
	} else if n, ok := hardware[c.Name]; ok {
		attr.Type, attr.Config = unix.PERF_TYPE_HARDWARE, n
	}
	attr.Sample = uint64(c.Every)
	if register := returnsBy[runtime.GOARCH]; register.number > 0 {
		attr.Sample_type |= unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER
		attr.Sample_regs_user, attr.Sample_stack_user = 1<<register.number, register.stack
	}
	if tell {
		attr.Bits |= unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitTask | unix.PerfBitExcludeKernel
		attr.Sample = 0
		if switches {
			attr.Bits |= unix.PerfBitContextSwitch
		}
	}
	fd, err = unix.PerfEventOpen(&attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if user = !tell && (err == unix.EACCES || err == unix.EPERM); user {
		attr.Bits |= unix.PerfBitExcludeKernel // the kernel's part is not for everybody
		fd, err = unix.PerfEventOpen(&attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	return fd, user, err
}

// refused says why the kernel does not watch.
func refused(c Counter, err error) error {
	_, hard := hardware[c.Name]
	if hard && (err == unix.ENOENT || err == unix.EOPNOTSUPP || err == unix.ENODEV || err == unix.EINVAL) {
		return fmt.Errorf("this machine has no counter %s (%w): virtual machines often have none of the processor's; task-clock, page-faults, context-switches and cpu-migrations are there", c.Name, err)
	}
	if level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); err == unix.EACCES || err == unix.EPERM {
		return fmt.Errorf("recording from outside is not allowed (perf_event_open; kernel.perf_event_paranoid is %s; up to 2 will do): %w", strings.TrimSpace(string(level)), err)
	}
	return fmt.Errorf("recording from outside: perf_event_open: %w", err)
}
