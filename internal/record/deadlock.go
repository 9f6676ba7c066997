//go:build !scope_off

package record

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/heartbeat"
)

// asleep reports whether no goroutine of the program can ever go on; nil: nobody knows.
var asleep atomic.Pointer[func() bool]

// TellAsleep has recordings end where f reports that only the recorder's goroutines can go on. Go
// itself tells such a deadlock, and ends the program, but not while those and their timers are there.
func TellAsleep(f func() bool) { asleep.Store(&f) }

// deadlocked reports whether the program has come to a deadlock. One is seen only while no other
// goroutine of the recorder runs.
func deadlocked() bool {
	f := asleep.Load()
	return f != nil && (*f)()
}

// looksAsleep reports whether a program has come to a deadlock; a test has its own.
var looksAsleep = (*heartbeat.Sampler).Asleep

// quiet is since when nothing was recorded.
type quiet struct {
	recorded int64 // as of the last beat
	looks    int   // how often it was looked at since
	beats    int   // until it is looked at again
}

// restIfStuck rests where a program that nobody has rewritten has come to a deadlock, so that Go sees
// it: nothing of ours waits for a time or is in a system call then. It is looked at when nothing was
// recorded between two beats, and then ever more seldom. If the program goes on after all, the next
// record of any goroutine takes a chunk, which ends the rest. With collectors there is none: Go's own
// have timers, with which it sees no deadlock without us either.
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
	beat.Stop() // Go may have been told to keep its timer even so that nobody waits for it (asynctimerchan)
	r.flusher.Pause()
	if looksAsleep(r.sampler) {
		r.fact("deadlock", "all goroutines")
		r.flusher.Rest(r.quit, func(open []int64) bool {
			r.writer.expire(open)
			records, _ := r.writer.written()
			return records <= counted && looksAsleep(r.sampler)
		})
		r.block(format.BlockInfo, format.AppendInfo(nil, "deadlock", "")) // it was none
	}
	r.flusher.Resume()
	beat.Reset(r.opts.Heartbeat)
}

// endDeadlocked ends the recording of a program that has come to a deadlock.
func (r *recorder) endDeadlocked() {
	control.Lock() // nobody waits with it in hand for what would not come
	defer control.Unlock()
	select {
	case <-r.quit: // it has ended
	default:
		r.fact("deadlock", "all goroutines")
		_ = r.stop() // the trace says what went wrong
	}
}
