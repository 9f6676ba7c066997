//go:build !scope_off

package gotrace

import (
	"errors"
	"runtime/trace"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
)

var errStopped = errors.New("the program called trace.Stop")

// live is the execution trace, written as it comes.
type live struct {
	out    *writer
	before int64 // switches at its start
	since  time.Time
	asked  bool // whether the tracer was asked to flush
}

func startLive(c *collector) (*live, error) {
	l := &live{out: c.writer(), before: switches(), since: time.Now()}
	l.out.last = time.Now()
	if err := trace.Start(l.out); err != nil {
		c.streams--
		return nil, err
	}
	return l, nil
}

// idle is the time without data after which the trace may no longer be ours. Go's
// tracer writes at least once per second.
const idle = 3 * time.Second

func (l *live) tick() error {
	ago, full := l.out.tick()
	switch {
	case full:
		return l.end()
	case !trace.IsEnabled() || ago > idle && !l.ours():
		_ = l.out.close()
		return errStopped
	}
	return nil
}

func (l *live) snapshot() error { return nil }

// spent estimates from the bytes that came, which lag by up to a second, or from the switches,
// which are known at once.
func (l *live) spent() int64 {
	if !l.asked && time.Since(l.since) > settled && trace.IsEnabled() {
		l.asked = true
		l.flush()
	}
	return max(l.out.spent(), perSwitch*(switches()-l.before))
}

// end stops the trace if it is ours: the program may have stopped it and started another one,
// which Go does not report.
func (l *live) end() error {
	if l.ours() {
		trace.Stop()
	}
	return l.out.close()
}

// ours reports whether the running trace is the one that we started. A flight recorder that
// starts makes the tracer flush; if nothing comes to us, the trace is not ours.
func (l *live) ours() bool {
	if !trace.IsEnabled() {
		return false
	}
	before, ago := l.out.count()
	if !l.flush() {
		return ago < 10*idle // the program has a flight recorder: go by the time alone
	}
	now, _ := l.out.count()
	return now > before
}

// flush makes the tracer write what it has, and reports whether it could.
func (l *live) flush() bool {
	if shared.yields[collect.FlightRecorder].n > 0 {
		return false
	}
	f := trace.NewFlightRecorder(trace.FlightRecorderConfig{MaxBytes: 1})
	ownRecorder.Store(f)
	if f.Start() != nil {
		return false
	}
	f.Stop()
	return true
}
