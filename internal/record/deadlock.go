//go:build !scope_off

package record

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/heartbeat"
)

// asleep reports whether all goroutines of the program are blocked for ever; nil: unknown.
var asleep atomic.Pointer[func() bool]

// EndOnDeadlock makes recordings end when f reports that only the recorder's goroutines can run. Go
// itself detects such a deadlock, and ends the program, but not while those goroutines and their
// timers exist.
func EndOnDeadlock(f func() bool) { asleep.Store(&f) }

// deadlocked reports whether the program is deadlocked. That can be detected only while no other
// goroutine of the recorder runs.
func deadlocked() bool {
	f := asleep.Load()
	return f != nil && (*f)()
}

// looksAsleep reports whether a program seems deadlocked; it is replaced in tests.
var looksAsleep = (*heartbeat.Sampler).Asleep

// quiet describes the time since the last record.
type quiet struct {
	recorded int64 // at the last beat
	looks    int   // checks since then
	beats    int   // until the next check
}

// restIfStuck pauses the recorder if a program without hooks seems deadlocked, so that Go can
// detect it: none of our goroutines then waits for a timer or is in a system call. It checks when
// nothing was recorded between two beats, and then less and less often. If the program continues
// after all, the next record of any goroutine takes a chunk, which ends the pause. With collectors
// there is no pause: Go's own have timers, with which it does not detect deadlocks anyway.
func (r *recorder) restIfStuck(beat *time.Ticker) {
	r.beatMu.Lock()
	counted := r.counted
	r.beatMu.Unlock()
	q := &r.quiet
	if q.recorded != counted || asleep.Load() != nil || len(r.opts.collectors) > 0 {
		*q = quiet{recorded: counted}
		return
	}
	if q.beats--; q.beats >= 0 {
		return
	}
	q.looks++
	q.beats = min(q.looks, 8)
	beat.Stop() // with asynctimerchan, Go keeps the timer even if no goroutine waits for it
	r.flusher.Pause()
	if looksAsleep(r.sampler) {
		r.fact("deadlock", "all goroutines")
		r.flusher.Rest(r.quit, func(open []int64) bool {
			r.writer.expire(open)
			records, _ := r.writer.written()
			return records <= counted && looksAsleep(r.sampler)
		})
		r.block(format.BlockInfo, format.AppendInfo(nil, "deadlock", "")) // it was no deadlock
	}
	r.flusher.Resume()
	beat.Reset(r.opts.Heartbeat)
}

// endDeadlocked ends the recording of a deadlocked program.
func (r *recorder) endDeadlocked() {
	control.Lock() // no goroutine blocks while holding it
	defer control.Unlock()
	select {
	case <-r.quit: // it has already ended
	default:
		r.fact("deadlock", "all goroutines")
		_ = r.stop() // the trace records what went wrong
	}
}
