//go:build !scope_off

package gotrace

import (
	"errors"
	"runtime/trace"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
)

var errStopped = errors.New("the program called trace.Stop")

// live is the execution trace, as it is written.
type live struct {
	out    *writer
	before int64 // switches
	since  time.Time
	asked  bool // for what it has
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

// idle is when a trace that nothing comes from is suspected to be ours no more. Go's
// tracer writes at least once in a second.
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

// spent goes by what came, which is up to a second late, or by what is known at once.
func (l *live) spent() int64 {
	if !l.asked && time.Since(l.since) > settled && trace.IsEnabled() {
		l.asked = true
		l.flush()
	}
	return max(l.out.spent(), perSwitch*(switches()-l.before))
}

// end stops the trace, if it is ours: the program may have stopped it, and have begun
// another one, of which Go tells us nothing.
func (l *live) end() error {
	if l.ours() {
		trace.Stop()
	}
	return l.out.close()
}

// ours reports whether the trace that is being written is the one that we started. A
// flight recorder that begins has the tracer write at once what it has; if nothing
// comes to us, it comes to somebody else.
func (l *live) ours() bool {
	if !trace.IsEnabled() {
		return false
	}
	before, ago := l.out.count()
	if !l.flush() {
		return ago < 10*idle // the program has a flight recorder: then this must do
	}
	now, _ := l.out.count()
	return now > before
}

// flush has the tracer write at once what it has, and reports whether that could be asked for.
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
