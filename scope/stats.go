package scope

// Lost counts records that were asked for and not kept, by reason.
type Lost struct {
	Window int64 // no room was prepared in time
	Limit  int64 // the trace had reached its limit
	Space  int64 // the file system or /dev/shm was full, or nearly, or a limit of memory or addresses reached
	IO     int64 // I/O error, or the disk was late with another segment
	Busy   int64 // no place found in time
	Stop   int64 // begun while the recording stopped
	Ends   int64 // ends that found no place: their scopes are kept, and show as open
	Stacks int64 // calls of Stack: faster than they are counted
	Opens  int64 // open scopes of a ring whose begin was overwritten, more than it keeps (see WithRing)
	Buffer int64 // the memory was full in which records wait for the disk (see WithBuffer)

	// Unknown reports that more may be lost. Who can write the trace's file has stored numbers
	// over the counters in it that can't be right. Those are not counted, and no number falls.
	Unknown bool
}

// Total returns the sum of the records that are missing: what was asked for is what
// was recorded, and counted of stacks, plus that. Ends are not in it, nor are Opens,
// which were recorded, and overwritten.
func (l Lost) Total() int64 {
	return l.Window + l.Limit + l.Space + l.IO + l.Busy + l.Stop + l.Stacks + l.Buffer
}

// Misuse counts what the program should not have done; none of it hurts.
type Misuse struct {
	DoubleEnds  int64 // ends of a scope that had ended
	ForeignEnds int64 // ends on another goroutine than the begin's: legal, and counted
	StaleEnds   int64 // ends after Stop, or of an earlier recording
	OtherNames  int64 // records kept under "(other names)" because the name table was full
	OtherStacks int64 // calls of Stack counted under "(other stacks)" because there were too many
	ArgsCut     int64 // records whose arguments or strings were cut
}

// Statistics is what Stats returns.
type Statistics struct {
	Running       bool
	Path          string // of the trace; of the last one when stopped
	Recorded      int64  // records that the trace has; what lies in open chunks is included
	Overwritten   int64  // records that a ring had, until later ones took their place
	Stacks        int64  // calls of Stack counted so far; after Stop, all that are not lost
	Lost          Lost
	Misuse        Misuse
	Bytes         int64  // handed out in the trace
	PreparedLeast int64  // the fewest bytes that were ready to be handed out
	PageFaults    int64  // pages handed out that could not be faulted in before: each cost the program a page fault
	PreparedLate  int64  // chunks of 64 KiB that a goroutine of the program had to prepare itself, because none was ready: each in some 10 to 120 µs
	Names         int64  // names interned
	Recorder      string // the path and what it could verify, in words
	Filter        string // as it was set last
	Off           bool   // switched off from outside: nothing is recorded
	Slow          int64  // scopes that took longer than a trigger's limit
	Snapshots     int64  // written by Snapshot, by triggers, or for somebody outside
	LastError     error  // the last error of the flusher, of a triggered snapshot, or of removing the hot file, or that the disk was late with a segment; nil if there was none
}
