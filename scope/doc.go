// Package scope records what a concurrent program does, as a timeline: who did
// what, when, for how long, with how much CPU time, and who waited for which
// lock.
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
// The trace is a file that can be read at any time: while the program runs,
// after it ended, and after it was killed. The tool scopeview shows it.
//
// Without a recording every function here returns at once, after one load.
// Built with the tag scope_off they compile to nothing.
//
// # What it does to the program
//
// Nothing here blocks, panics, prints, installs signal handlers, exits, or calls
// a method of the program's values (but Lock and TryLock of what is given to
// Lock). When records can't be kept (a full disk, the limit, more than the disk
// can take) they are counted, by reason, and the trace and Stats say so.
//
// # CPU time
//
// A scope's CPU time is that of its thread, and only where the goroutine did not
// yield in between, which is verified: exact below 20 µs, likely above; where it
// yielded once and came back to its thread it is an upper bound; else it is
// unknown, and shown as unknown. Go preempts what has run for 10 ms, so a leaf
// that computes longer has an upper bound at best.
//
// # Locks
//
// Mutex and RWMutex are used in place of package sync's and record who waited for whom,
// where somebody had to wait; Retry does so for loops that try again. Lock is for any
// other lock, and records each time that it is had. WithLockThreshold sets how long a
// wait must be to be recorded; shorter ones are counted. How often a lock was had, and
// how often not at once, is told at each heartbeat.
//
// # Requests
//
// Context begins a scope of a request, and its context says so to the scopes that other
// goroutines, and other processes, begin for it. Their Link goes with each, so that a reader
// finds all that belongs to one request. Package scopehttp does so for net/http.
//
// # Left on
//
// With WithRing the last bytes are kept instead of the first: what a program
// records into for months. What was slow is taken out of it by Snapshot, by
// itself with WithTrigger, or from outside by the tool's snapshot and ctl
// commands, which need nothing but the file; ctl also switches recording off and
// on and sets the filter. Package scopehttp does the same through the program's
// debug server.
//
// # Goroutines, and values
//
// Every function and method here may be called from any goroutine at any time, Start and
// Stop too: of two that are called at once one returns ErrRunning or ErrStopped. After Stop
// another recording may be started. Spans, Retries and what Task returns are values of one
// recording. The zero values of Mutex, RWMutex and Span may be used; the zero BackingKind
// is none, and is refused with ErrOption.
//
// # Misuse
//
// Misuse never hurts. What is recorded, and which counter of Stats moves:
//
//	misuse                              recorded                              counter
//	the end is called twice             the first end                         Misuse.DoubleEnds
//	the end is called on another        the scope, ended by the other one;    Misuse.ForeignEnds
//	goroutine (legal)                   CPU time unknown
//	the end is called after Stop        the scope stays open                  Misuse.StaleEnds
//	the end is called after a new       nothing in the new recording          Misuse.StaleEnds
//	Start
//	the end is never called             an open scope; with many of one       none
//	(second () missing)                 name and none ended, the tool asks
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
//	a Mutex is locked by who has it     an open wait, for the waiter itself   none
//	a goroutine ends while it has a     an open hold, if others waited when   none
//	Mutex                               it locked, and their open waits
//	a Mutex is copied after its first   the waits for each copy; what is      none
//	use (go vet tells)                  counted of them may be wrong
//	more than 65,536 locks that         their waits; their counts under       none
//	somebody waited for                 "(other locks)"
//
// Ends that nobody calls, and formats that do not fit, are found by the tool's
// vet command, before the program runs.
//
// An end that finds its record already written out can't tell whether there was
// another one before: the tools then show the first. One that completes its record
// while that is being written out is recorded a second time, beside it, and counts once.
package scope
