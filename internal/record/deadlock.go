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
