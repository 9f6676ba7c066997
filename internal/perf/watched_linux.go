package perf

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
)

// Watched is a counter that samples, and its state. It has rings of its own, because the kernel
// reports how many samples found no room, but not their event.
type Watched struct {
	Counter
	Events
	Missing   string // why the samples end early; "": they do not
	user      bool   // it counts only in user mode
	throttled int64
	rest      string // the CPU time that it has not counted; "": next to nothing
	lost      int64  // number of lost samples reported so far
}

// Watch opens the counter's events by open; if that is not permitted, it tries again for user mode
// only. The error is the reason why there are none.
func (w *Watched) Watch(ask sys.Watching, open func(sys.Watching) error) error {
	k, err := w.find()
	if err != nil {
		return err
	}
	if ask.Type = unix.PERF_TYPE_SOFTWARE; k.hardware {
		ask.Type = unix.PERF_TYPE_HARDWARE
	}
	ask.Config, ask.Every = k.config, w.Every
	err = open(ask)
	if w.user = (err == unix.EACCES || err == unix.EPERM) && !k.inKernel; w.user {
		w.Close()
		ask.User = true
		err = open(ask)
	}
	if err == nil {
		return nil
	}
	w.Close()
	if k.inKernel && (err == unix.EACCES || err == unix.EPERM) {
		return errors.New("it counts in the kernel, which this user may not monitor (kernel.perf_event_paranoid; up to 1 will do, or root)")
	}
	if k.hardware && (err == unix.ENOENT || err == unix.EOPNOTSUPP || err == unix.ENODEV || err == unix.EINVAL) {
		return errors.New("this machine has no such counter; task-clock, page-faults, context-switches and cpu-migrations are there")
	}
	return Refused(err)
}

// Take processes a record that is not a sample, and returns how many samples it reports as lost.
func (w *Watched) Take(e *Event) (lost int64) {
	if e.Kind == KindThrottle {
		w.throttled++
	}
	w.lost += e.Lost
	return e.Lost
}

// LostLast returns the number of samples that were lost and not yet reported: the kernel reports
// losses only when there is room for another record.
func (w *Watched) LostLast() int64 {
	n, known := w.Lost()
	if !known || n <= w.lost {
		return 0
	}
	last := n - w.lost
	w.lost = n
	return last
}

// Unsampled returns how much of the threads' CPU time, by the system's account, the counter of CPU
// time has not counted. It returns 0 unless that is more than a hundredth plus the time of a
// program's start. The counter stands still while threads are switched, up to two microseconds each
// time. A non-zero result is added to the fact.
func (w *Watched) Unsampled(cpu time.Duration) time.Duration {
	const start = 5 * time.Millisecond
	counted, known := w.Counted()
	rest := cpu - time.Duration(counted)
	if !known || w.Name != taskClock || rest <= cpu/100+start {
		return 0
	}
	w.rest = fmt.Sprintf("%v of %v", rest.Round(time.Millisecond), cpu.Round(time.Millisecond))
	return rest
}

// Fact returns the fact about the counter.
func (w *Watched) Fact() (key, value string) {
	value = "on"
	if w.user {
		value += ", except in the kernel, which this user may not monitor (kernel.perf_event_paranoid)"
	}
	if _, known := w.Lost(); !known {
		value += ", but Linux before 6.0 does not count the samples lost after the last one"
	}
	if w.throttled > 0 {
		value += fmt.Sprintf(", but the kernel paused it %d times, because samples came too fast (kernel.perf_event_max_sample_rate)", w.throttled)
	}
	if w.rest != "" {
		value += ", except while threads were switched, which can't be sampled: " + w.rest
	}
	if w.Missing != "" {
		value += ", but not to the end: " + w.Missing
	}
	return factCounter + w.Name, value
}
