package heartbeat

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
)

// threadShare limits the cost of reading the threads to 1/threadShare of a CPU.
const threadShare = 1000

// threadReader reads the schedstat file of each thread, a small file with CPU
// time and run-queue wait, both in ns. It uses plain system calls and buffers of
// its own, because procfs takes three times as long and several allocations a
// file.
type threadReader struct {
	dir   string
	next  time.Time // when the threads may be read again
	cost  time.Duration
	buf   [8 << 10]byte
	names []string
	all   []sample
	last  map[int64]int64 // by thread, its CPU time at the last read
}

type sample struct {
	format.Thread
	grown int64 // CPU time since the last read
}

func (r *threadReader) init(dir string) {
	r.dir = dir
	r.last = make(map[int64]int64)
}

func (r *threadReader) read(b *beat) {
	now := time.Now()
	if now.Before(r.next) {
		return
	}
	c := startCost()
	err := r.readAll()
	if err != nil {
		b.fail("CPU time of threads", err)
	} else {
		r.report(b)
	}
	if d, ok := c.stop(); ok {
		r.cost = d
	}
	r.next = now.Add(threadShare * r.cost)
}

// busier reports whether x used more CPU time than y since the last read.
func busier(x, y *sample) bool {
	if x.grown != y.grown {
		return x.grown > y.grown
	}
	return x.CPU > y.CPU || x.CPU == y.CPU && x.ID < y.ID
}

// report adds the busiest threads to the beat, and the sums of all.
func (r *threadReader) report(b *beat) {
	listed := r.all[:min(len(r.all), maxThreads)]
	for i := range listed { // sorting all would make the program larger by 10 kB
		for j := i + 1; j < len(r.all); j++ {
			if busier(&r.all[j], &r.all[i]) {
				r.all[i], r.all[j] = r.all[j], r.all[i]
			}
		}
		b.threads = append(b.threads, r.all[i].Thread)
	}
	cpu, wait := sum(listed)
	b.put(format.FieldThreadCPU, cpu)
	b.put(format.FieldThreadWait, wait)
	rest := r.all[len(listed):]
	cpu, wait = sum(rest)
	b.put(format.FieldRestThreads, int64(len(rest)))
	b.put(format.FieldRestCPU, cpu)
	b.put(format.FieldRestWait, wait)
}

func sum(ts []sample) (cpu, wait int64) {
	for _, t := range ts {
		cpu += t.CPU
		wait += t.Wait
	}
	return cpu, wait
}

// readAll fills r.all. It leaves out threads that end while it reads.
func (r *threadReader) readAll() error {
	dir, err := unix.Open(r.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", r.dir, err)
	}
	defer unix.Close(dir)
	if err := r.list(dir); err != nil {
		return fmt.Errorf("%s: %w", r.dir, err)
	}
	r.all = r.all[:0]
	var ran int64
	for _, name := range r.names {
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			continue
		}
		cpu, wait, err := r.readOne(dir, name)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s/%s/schedstat: %w", r.dir, name, err)
		}
		ran += cpu
		r.all = append(r.all, sample{Thread: format.Thread{ID: id, CPU: cpu, Wait: wait}, grown: cpu - r.last[id]})
	}
	if ran == 0 {
		// At least the calling thread has run. A kernel without scheduler
		// statistics has no such file, or one with "0 0 0".
		return errors.New("the kernel keeps no scheduler statistics of threads")
	}
	clear(r.last)
	for _, t := range r.all {
		r.last[t.ID] = t.CPU
	}
	return nil
}

func (r *threadReader) list(dir int) error {
	r.names = r.names[:0]
	for {
		n, err := unix.ReadDirent(dir, r.buf[:])
		if err != nil || n <= 0 {
			return err
		}
		_, _, r.names = unix.ParseDirent(r.buf[:n], -1, r.names)
	}
}

func (r *threadReader) readOne(dir int, thread string) (cpu, wait int64, err error) {
	b, err := r.readFile(dir, thread+"/schedstat")
	if err != nil {
		return 0, 0, err
	}
	return parseSchedstat(b)
}

// readFile returns a file's contents in r.buf, valid until the next read.
func (r *threadReader) readFile(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	n, err := unix.Read(fd, r.buf[:])
	unix.Close(fd)
	return r.buf[:max(n, 0)], err
}

// parseSchedstat parses "ns run, ns waited, slices".
func parseSchedstat(p []byte) (cpu, wait int64, err error) {
	var v [3]int64
	rest := strings.TrimSuffix(string(p), "\n")
	for i := range v {
		word, tail, _ := strings.Cut(rest, " ")
		v[i], err = strconv.ParseInt(word, 10, 64)
		if err != nil || v[i] < 0 {
			return 0, 0, fmt.Errorf("%q is not three counts", p)
		}
		rest = tail
	}
	return v[0], v[1], nil
}

// costMeter measures the CPU time of a stretch of code by its thread's clock,
// because wall time would overstate the cost on a busy machine.
type costMeter struct {
	thread int
	begin  unix.Timespec
	err    error
}

func startCost() costMeter {
	c := costMeter{thread: unix.Gettid()}
	c.err = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &c.begin)
	return c
}

// stop returns the cost; ok is false if the goroutine was moved to another
// thread meanwhile.
func (c costMeter) stop() (d time.Duration, ok bool) {
	var end unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &end)
	if c.err != nil || err != nil || unix.Gettid() != c.thread {
		return 0, false
	}
	return time.Duration(end.Nano() - c.begin.Nano()), true
}
