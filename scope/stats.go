package scope

// Lost counts records that could not be kept, by reason.
type Lost struct {
	Window int64 // no chunk was prepared in time
	Limit  int64 // the trace had reached its limit
	Space  int64 // the file system or /dev/shm was full, or nearly, or a limit of memory or address space was reached
	IO     int64 // I/O error, or the disk was too slow to provide another segment
	Busy   int64 // no slot was free in time
	Stop   int64 // begun while the recording was stopping
	Ends   int64 // ends that found no room: their scopes are kept, and shown as open
	Stacks int64 // calls of Stack that came faster than they could be counted
	Opens  int64 // open scopes of a ring whose begin was overwritten, beyond those it keeps (see WithRing)
	Buffer int64 // the memory in which records wait for the disk was full (see WithBuffer)

	// Unknown reports that more records may be lost: a process that may write to the trace's
	// file has stored impossible values over its counters. Those values are ignored, and no
	// count decreases.
	Unknown bool
}

// Total returns the number of missing records: recorded plus counted stacks plus Total is what
// the program asked for. Ends is not part of it, nor is Opens, whose records were recorded and
// then overwritten.
func (l Lost) Total() int64 {
	return l.Window + l.Limit + l.Space + l.IO + l.Busy + l.Stop + l.Stacks + l.Buffer
}

// Misuse counts incorrect uses of the package; none of them does harm.
type Misuse struct {
	DoubleEnds  int64 // ends of a scope that had already ended
	ForeignEnds int64 // ends on another goroutine than the begin's: legal
	StaleEnds   int64 // ends after Stop, or of an earlier recording
	OtherNames  int64 // records kept under "(other names)" because the name table was full
	OtherStacks int64 // calls of Stack counted under "(other stacks)" because there were too many different ones
	ArgsCut     int64 // records whose arguments or strings were cut
}

// Statistics describes a recording; Stats returns it.
type Statistics struct {
	Running       bool
	Path          string // of the trace, or of the last one when stopped
	Recorded      int64  // records in the trace, including those in open chunks
	Overwritten   int64  // records of a ring that newer ones replaced
	Stacks        int64  // calls of Stack counted so far; after Stop, all that are not lost
	Lost          Lost
	Misuse        Misuse
	Bytes         int64  // bytes of the trace handed out to writers
	PreparedLeast int64  // the fewest bytes that were ready to be handed out
	PageFaults    int64  // pages handed out before they were faulted in: each cost the program a page fault
	PreparedLate  int64  // chunks of 64 KiB that a goroutine of the program had to prepare itself, because none was ready: 10 to 120 µs each
	Names         int64  // names interned
	Recorder      string // the recording path and what it could verify, in words
	Filter        string // as set last
	Off           bool   // switched off from outside: nothing is recorded
	Slow          int64  // scopes that took longer than a trigger's limit
	Snapshots     int64  // written by Snapshot, by triggers, or on request from outside
	LastError     error  // the last error of the flusher, of a triggered snapshot, or of removing the hot file, or a segment that the disk was too slow for; nil if none
}
