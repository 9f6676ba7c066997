//go:build !scope_off

package record

import "sync/atomic"

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

// quiet is since when nothing was recorded.
type quiet struct {
	recorded int64 // as of the last beat
	looks    int   // how often it was looked at since
	beats    int   // until it is looked at again
}

// restIfStuck rests where a program that nobody has rewritten has come to a deadlock, so that Go sees
// it: nothing of ours waits for a time or is in a system call then. It is looked at when nothing was
// recorded between two beats, and then ever more seldom. If the program goes on after all, what it
// records ends the rest. With collectors there is none: Go's own have timers, with which it sees no
// deadlock without us either.
func (r *recorder) restIfStuck() {
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
	r.flusher.Pause()
	if r.sampler.Asleep() {
		r.fact("deadlock", "all goroutines")
		r.flusher.Rest(r.quit)
		r.fact("deadlock", "")
	}
	r.flusher.Resume()
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
