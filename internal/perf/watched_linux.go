package perf

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
)

// Watched is a counter that samples, and what became of it. It has rings of its own, for the
// kernel tells how many samples found no room, but not of which event.
type Watched struct {
	Counter
	Events
	Missing   string // why the samples end early; "": they do not
	user      bool   // it counts only what happens in user mode
	throttled int64
	rest      string // what of the CPU time it has not counted; "": next to nothing
	lost      int64  // samples, as far as was told
}

// Watch opens the counter's events: open does so, and where that is not allowed does it again
// for user mode only. An error says why there are none.
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
		return errors.New("it counts in the kernel, which is not for everybody to see (kernel.perf_event_paranoid; up to 1 will do, or root)")
	}
	if k.hardware && (err == unix.ENOENT || err == unix.EOPNOTSUPP || err == unix.ENODEV || err == unix.EINVAL) {
		return errors.New("this machine has no such counter; task-clock, page-faults, context-switches and cpu-migrations are there")
	}
	return Refused(err)
}

// Take takes in what is no sample, and returns how many of these were lost.
func (w *Watched) Take(e *Event) (lost int64) {
	if e.Kind == KindThrottle {
		w.throttled++
	}
	w.lost += e.Lost
	return e.Lost
}

// LostLast is how many samples were lost that nothing has told of: the kernel tells as soon as
// there is room for another one.
func (w *Watched) LostLast() int64 {
	n, known := w.Lost()
	if !known || n <= w.lost {
		return 0
	}
	last := n - w.lost
	w.lost = n
	return last
}

// Unsampled is how much of the CPU time that threads had by the system's account the counter of CPU
// time has not counted, if that is more than a hundredth and what a program's start takes: it
// stands still while threads are switched, which takes up to two microseconds each time. From
// then on the fact says so.
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

// Fact is what the trace is told of the counter.
func (w *Watched) Fact() (key, value string) {
	value = "on"
	if w.user {
		value += ", but for what it counts in the kernel, which is not for everybody to see (kernel.perf_event_paranoid)"
	}
	if _, known := w.Lost(); !known {
		value += ", but for samples lost behind the last one: how many is not known before Linux 6.0"
	}
	if w.throttled > 0 {
		value += fmt.Sprintf(", but the kernel paused it %d times, because samples came too fast (kernel.perf_event_max_sample_rate)", w.throttled)
	}
	if w.rest != "" {
		value += ", but not while threads were switched, which nobody can sample: " + w.rest
	}
	if w.Missing != "" {
		value += ", but not to the end: " + w.Missing
	}
	return factCounter + w.Name, value
}
