// Package scope records a timeline of a concurrent program: what each goroutine did, when, for
// how long, with how much CPU time, and which locks it waited for.
//
//	func main() {
//		if err := scope.Start("traces/"); err != nil {
//			log.Print(err)
//		}
//		defer scope.Stop()
//		…
//	}
//
//	func parse(file string) {
//		defer scope.Task("parse", scope.KV("file", file))()
//		…
//	}
//
// The trace is a file that can be read at any time: while the program runs, after it ended,
// and after it was killed. The tool scopeview shows it.
//
// Without a recording every function here returns at once, after one load. Built with the tag
// scope_off they compile to nothing.
//
// # What it does to the program
//
// Nothing here blocks, panics, prints, installs signal handlers, exits, or calls a method of
// the program's values (except Lock and TryLock of the locker passed to Lock). Records that
// can't be kept (the disk is full or too slow, the limit is reached) are counted by reason, in
// the trace and in Stats.
//
// # CPU time
//
// A scope's CPU time is its thread's, and is given only if the goroutine verifiably did not
// yield in between: it is exact below 20 µs and likely above. If the goroutine yielded once
// and returned to its thread, it is an upper bound; else it is unknown, and shown as unknown.
// Go preempts a goroutine that has run for 10 ms, so a leaf that computes longer has an upper
// bound at best.
//
// # Locks
//
// Mutex and RWMutex replace package sync's. When a goroutine has to wait, they record the wait
// and the holder; Retry does so for loops that retry. Lock is for any other lock, and records
// each acquisition. WithLockThreshold sets how long a wait must be to be recorded; shorter
// ones are counted. Each heartbeat records the acquisitions of a lock, and how many of them
// had to wait.
//
// # Requests
//
// Context begins a scope of a request. The context it returns links the scopes that other
// goroutines and other processes begin for the request. Each of these scopes is recorded with
// its Link, so a reader finds all that belongs to one request. Package scopehttp does this for
// net/http.
//
// # Left on
//
// WithRing keeps the last bytes instead of the first, so a program can record for months.
// Snapshot copies the current content to a file, as do WithTrigger when a scope was slow, and
// the tool's snapshot and ctl commands from outside, which need only the file; ctl also
// switches recording off and on and sets the filter. Package scopehttp does the same through
// the program's debug server.
//
// # Goroutines, and values
//
// All functions and methods may be called from any goroutine at any time, including Start and
// Stop: of two concurrent calls, one returns ErrRunning or ErrStopped. After Stop another
// recording may be started. Spans, Retries and the functions that Task returns belong to one
// recording. The zero values of Mutex, RWMutex and Span may be used; the zero BackingKind is
// invalid, and Start returns ErrOption for it.
//
// # Misuse
//
// Misuse does no harm. The table shows what is recorded, and which counter of Stats counts it:
//
//	misuse                              recorded                              counter
//	the end is called twice             the first end                         Misuse.DoubleEnds
//	the end is called on another        the scope, ended by the other one;    Misuse.ForeignEnds
//	goroutine (legal)                   CPU time unknown
//	the end is called after Stop        the scope stays open                  Misuse.StaleEnds
//	the end is called after a new       nothing in the new recording          Misuse.StaleEnds
//	Start
//	the end is never called             an open scope; with many of one       none
//	(second () missing)                 name and none ended, the tool hints
//	the end is called twice, with a     the first end                         Misuse.DoubleEnds
//	ring, after the begin was
//	overwritten
//	the name is empty                   a scope without a name                none
//	the name is not valid UTF-8         its bytes; tools show U+FFFD          none
//	the name has more than 1 KiB        its first 1 KiB                       none
//	more than 65,534 names, or 8 MiB    the scope, as "(other names)"         Misuse.OtherNames
//	of them
//	a string of more than 1 KiB, or     the first 1 KiB, the arguments that   Misuse.ArgsCut
//	more arguments than fit             fit, and how much is missing
//	a second Link                       the first one                         Misuse.ArgsCut
//	an argument that is not a number,   its type's name                       none
//	string, bool or duration
//	more than 65,535 different stacks   the call, under "(other stacks)"      Misuse.OtherStacks
//	of Stack
//	a stack of more than 64 callers     the innermost 64, marked as cut       none
//	a nil Span, an end without Start    nothing                               none
//	a Mutex is locked by its holder     an open wait, for the waiter itself   none
//	a goroutine ends holding a Mutex    an open hold, if others waited when   none
//	&                                   it locked, and their open waits
//	a Mutex is copied after its first   the waits for each copy; its counts   none
//	use (go vet reports it)             may be wrong
//	more than 65,536 locks that         their waits; their counts under       none
//	goroutines waited for               "(other locks)"
//
// The tool's vet command finds ends that are never called, and formats that do not match their
// arguments, before the program runs.
//
// An end whose record is already written out can't detect an earlier end: the tools then show
// the first. An end that completes its record while that is being written out is also recorded
// separately, and counts once.
package scope
