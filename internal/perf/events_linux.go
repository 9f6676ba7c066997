package perf

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
)

// Events holds perf events that watch threads, on each CPU, and a ring for each CPU that the
// kernel writes to.
type Events struct {
	CPUs  []int
	Pages int              // maximum size of a ring: a power of two
	rings []*sys.EventRing // of each CPU; nil: the CPU is off
	fds   []int
}

// Open opens events for a thread and those that it will create; opened, if not nil, is called
// with the ids of the events. After an error Close must be called.
func (e *Events) Open(tid int, w sys.Watching, opened func(id uint64)) error {
	if e.rings == nil {
		e.rings = make([]*sys.EventRing, len(e.CPUs))
	}
	for i, cpu := range e.CPUs {
		fd, id, err := sys.Watch(tid, cpu, w)
		switch {
		case err == unix.ENODEV && w.Type != unix.PERF_TYPE_HARDWARE: // the CPU was switched off
			continue
		case err != nil:
			return err
		}
		e.fds = append(e.fds, fd)
		if opened != nil {
			opened(id)
		}
		if e.rings[i] != nil {
			err = e.rings[i].Take(fd)
		} else {
			e.rings[i], err = newRing(fd, e.Pages)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openAll opens events for all threads of this process, including those created meanwhile, and
// returns the threads.
func (e *Events) openAll(w sys.Watching, opened func(tid int, id uint64)) (tids []int, err error) {
	known := map[int]bool{}
	for { // until no thread is new: a thread without events may have created others
		list, err := tasks()
		if err != nil {
			return nil, fmt.Errorf("listing the threads: %w", err)
		}
		before := len(tids)
		for _, tid := range list {
			if known[tid] {
				continue
			}
			known[tid] = true
			tids = append(tids, tid)
			if len(e.fds)+len(e.CPUs) > mostDescriptors() {
				return nil, fmt.Errorf("that would take a descriptor for each thread on each of %d CPUs, more than a quarter of what ulimit -n allows", len(e.CPUs))
			}
			err := e.Open(tid, w, func(id uint64) {
				if opened != nil {
					opened(tid, id)
				}
			})
			if err != nil && err != unix.ESRCH { // ESRCH: it has ended
				return nil, err
			}
		}
		if len(tids) == before {
			return tids, nil
		}
	}
}

// Read appends the records written on the i-th CPU since the last call.
func (e *Events) Read(i int, b []byte) []byte {
	if r := e.rings[i]; r != nil {
		return r.Read(b)
	}
	return b
}

// Full returns how full the i-th CPU's ring was, 0 to 1, when Read found n bytes in it, and
// whether a switch may have found no room.
func (e *Events) Full(i, n int) (full float64, lost bool) {
	r := e.rings[i]
	if r == nil {
		return 0, false
	}
	return float64(n) / float64(r.Size()), n > r.Size()-mostBytes
}

// Lost returns the number of records that found no room so far; unknown before Linux 6.0, see
// sys.Lost.
func (e *Events) Lost() (n int64, known bool) {
	for _, fd := range e.fds {
		lost, ok := sys.Lost(fd)
		if !ok {
			return 0, false
		}
		n += lost
	}
	return n, true
}

// Counted returns the sum of the counts of all events so far.
func (e *Events) Counted() (n int64, known bool) {
	for _, fd := range e.fds {
		counted, ok := sys.Counted(fd)
		if !ok {
			return 0, false
		}
		n += counted
	}
	return n, len(e.fds) > 0
}

// Look enables or disables all events.
func (e *Events) Look(look bool) {
	for _, fd := range e.fds {
		_ = sys.Look(fd, look) // it can't fail for an open event
	}
}

// Close releases all events and rings.
func (e *Events) Close() {
	for _, r := range e.rings {
		if r != nil {
			r.Close()
		}
	}
	for _, fd := range e.fds {
		sys.CloseDescriptor(fd)
	}
	e.rings, e.fds = nil, nil
}

// mostDescriptors returns the maximum number of descriptors to open: a part of those that the
// process may have.
func mostDescriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 256
	}
	return int(min(limit.Cur/4, 1<<16))
}

// ownEvents returns the Events for this process's threads, with none opened. The error is the
// reason why none can be.
func ownEvents() (Events, error) {
	if sys.Filtered() {
		return Events{}, errors.New("a seccomp filter is active, which may kill the program for a call of perf_event_open")
	}
	cpus, err := Online()
	return Events{CPUs: cpus, Pages: inProcess(cpus)}, err
}

// inProcess returns the maximum number of pages of a ring of this process.
func inProcess(cpus []int) int {
	pages := 64
	for pages > 8 && pages*len(cpus) > 1024 {
		pages /= 2
	}
	return pages
}

// newRing creates the ring of fd's CPU, as large as is allowed.
func newRing(fd, pages int) (*sys.EventRing, error) {
	for ; ; pages /= 2 {
		r, err := sys.NewEventRing(fd, pages)
		if err == nil {
			return r, nil
		}
		if err != unix.EPERM && err != unix.ENOMEM || pages == 1 {
			return nil, fmt.Errorf("no memory for the kernel to write to (perf_event_mlock_kb, ulimit -l): %w", err)
		}
	}
}

// Refused explains an error of Open.
func Refused(err error) error {
	errno, ok := err.(unix.Errno)
	if !ok {
		return err
	}
	if errno != unix.EACCES && errno != unix.EPERM {
		return fmt.Errorf("perf_event_open: %w", err)
	}
	level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if text := strings.TrimSpace(string(level)); text != "" {
		return fmt.Errorf("perf_event_open is not allowed (kernel.perf_event_paranoid is %s; up to 2 will do): %w", text, err)
	}
	return fmt.Errorf("perf_event_open is not allowed: %w", err)
}

// tasks lists the process's threads.
func tasks() ([]int, error) {
	d, err := os.Open("/proc/self/task")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	var tids []int
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, err
}

// Online lists the CPUs that are online.
func Online() ([]int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("reading the list of CPUs: %w", err)
	}
	return cpuList(strings.TrimSpace(string(b)))
}

// cpuList parses a list such as 0-3,8.
func cpuList(text string) (cpus []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err := errors.Join(err1, err2); err != nil || b < a {
			return nil, fmt.Errorf("%q is not a list of CPUs", text)
		}
		for ; a <= b; a++ {
			cpus = append(cpus, int(a))
		}
	}
	return cpus, nil
}
