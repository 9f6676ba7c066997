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

// Events are what the kernel was asked to tell of threads, on each CPU, and a ring for each CPU
// that it tells it in.
type Events struct {
	CPUs  []int
	Pages int              // of a ring, at most: a power of two
	rings []*sys.EventRing // of each CPU; nil: it is off
	fds   []int
}

// Open has the kernel tell of a thread, and of those that it makes; opened, if there is one, is
// called with the ids of the events. After an error Close is to be called.
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

// openAll has the kernel tell of all threads of this process, which it returns: those too that
// they make meanwhile.
func (e *Events) openAll(w sys.Watching, opened func(tid int, id uint64)) (tids []int, err error) {
	known := map[int]bool{}
	for { // until no thread is new: a thread without events may have made others
		list, err := tasks()
		if err != nil {
			return nil, fmt.Errorf("the threads are not known: %w", err)
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
			if err != nil && err != unix.ESRCH { // it has ended
				return nil, err
			}
		}
		if len(tids) == before {
			return tids, nil
		}
	}
}

// Read appends what the kernel has told on the i-th CPU since the last call.
func (e *Events) Read(i int, b []byte) []byte {
	if r := e.rings[i]; r != nil {
		return r.Read(b)
	}
	return b
}

// Full is how full the i-th CPU's ring was that Read found n bytes in, 0 to 1, and whether a
// switch may have found no room in it.
func (e *Events) Full(i, n int) (full float64, lost bool) {
	r := e.rings[i]
	if r == nil {
		return 0, false
	}
	return float64(n) / float64(r.Size()), n > r.Size()-mostBytes
}

// Lost is how much found no room so far; not known before Linux 6.0, see sys.Lost.
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

// Counted is how much all events have counted so far.
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

// Look has the kernel tell of all, or of nothing.
func (e *Events) Look(look bool) {
	for _, fd := range e.fds {
		_ = sys.Look(fd, look) // it can't fail for what was opened
	}
}

// Close gives everything back.
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

// mostDescriptors is how many are opened at most, of those that the process may have.
func mostDescriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 256
	}
	return int(min(limit.Cur/4, 1<<16))
}

// ownEvents returns what is to be opened of this process's threads; an error says why nothing is.
func ownEvents() (Events, error) {
	if sys.Filtered() {
		return Events{}, errors.New("a seccomp filter is active, and may end the program for trying (perf_event_open)")
	}
	cpus, err := Online()
	return Events{CPUs: cpus, Pages: inProcess(cpus)}, err
}

// inProcess is how many pages a ring of this process may have.
func inProcess(cpus []int) int {
	pages := 64
	for pages > 8 && pages*len(cpus) > 1024 {
		pages /= 2
	}
	return pages
}

// newRing makes the ring of fd's CPU, as large as is allowed.
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

// Refused says why the kernel does not watch: err as it came from Open.
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

// Online lists the CPUs.
func Online() ([]int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("which CPUs there are is not known: %w", err)
	}
	return cpuList(strings.TrimSpace(string(b)))
}

// cpuList reads a list such as 0-3,8.
func cpuList(text string) (cpus []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err := errors.Join(err1, err2); err != nil || b < a {
			return nil, fmt.Errorf("%q is no list of CPUs", text)
		}
		for ; a <= b; a++ {
			cpus = append(cpus, int(a))
		}
	}
	return cpus, nil
}
