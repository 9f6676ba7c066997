package format

// Field numbers a value of a heartbeat. An absent field is unknown. Numbers are
// never reused. The constants' comments are repeated in docs/format.md.
type Field uint16

// fieldSpec describes a field.
type fieldSpec struct {
	Field      Field
	Name       string // the key in CSV and JSON
	Cumulative bool   // counts since the process or the recording began; else the value at the beat
}

const (
	FieldUser         Field = 1  // CPU time of the process in user mode
	FieldSystem       Field = 2  // CPU time of the process in the kernel
	FieldRSS          Field = 3  // resident memory
	FieldMinorFaults  Field = 4  // page faults without I/O
	FieldMajorFaults  Field = 5  // page faults with I/O
	FieldVoluntary    Field = 6  // context switches because a thread waited
	FieldInvoluntary  Field = 7  // context switches because a thread was preempted
	FieldThreads      Field = 8  // threads of the process
	FieldThreadCPU    Field = 9  // CPU time of the listed (busiest) threads, which are others each time
	FieldThreadWait   Field = 10 // time the listed threads were runnable and not on a CPU
	FieldRestThreads  Field = 11 // threads that are not listed
	FieldRestCPU      Field = 12 // CPU time of the threads that are not listed
	FieldRestWait     Field = 13 // run-queue wait of the threads that are not listed
	FieldGoroutines   Field = 14 // goroutines
	FieldHeap         Field = 15 // live and unswept heap objects
	FieldHeapGoal     Field = 16 // heap size at which the next GC cycle ends
	FieldGCCycles     Field = 17 // GC cycles
	FieldGCPauses     Field = 18 // stop-the-world pauses of the GC
	FieldGCPauseNS    Field = 19 // sum of those pauses, from histogram buckets (lower bounds)
	FieldGOMAXPROCS   Field = 20 // GOMAXPROCS
	FieldCPUs         Field = 21 // CPUs the process may run on
	FieldCPULimit     Field = 22 // the cgroup's CPU limit in thousandths of a CPU; absent without one
	FieldRecorded     Field = 23 // records kept, as far as chunks are accounted (open chunks lag)
	fieldLostWindow   Field = 24 // records lost: no room was prepared in time
	fieldLostLimit    Field = 25 // records lost: the trace's limit
	fieldLostSpace    Field = 26 // records lost: file system full
	fieldLostIO       Field = 27 // records lost: I/O error
	fieldLostBusy     Field = 28 // records lost: no place found in time
	fieldLostStop     Field = 29 // records lost: begun while the recording stopped
	FieldOwnCPU       Field = 30 // CPU time of the recorder's goroutines, measured
	FieldOwnUnknown   Field = 31 // wall time of the recorder's rounds whose CPU time could not be measured
	FieldScopeCost    Field = 32 // cost of one scope as calibrated at start, in picoseconds: an estimate
	FieldBytes        Field = 33 // bytes handed out in the trace
	FieldHotFaults    Field = 34 // pages handed out that could not be faulted in before, each of which cost a thread of the program a page fault
	FieldWindowLow    Field = 35 // the least that was left of the prepared window so far
	FieldNames        Field = 36 // names interned
	FieldOtherNames   Field = 37 // records kept under (other names)
	FieldDoubleEnds   Field = 38 // misuse: ends of a scope that had ended
	FieldForeignEnds  Field = 39 // ends on another goroutine than the begin's (legal)
	FieldStaleEnds    Field = 40 // ends after Stop or of an earlier recording
	FieldClamped      Field = 41 // CPU times clamped to [0, wall]
	FieldGCPauseMaxNS Field = 42 // longest stop-the-world pause so far, lower bound of its bucket
	FieldSwap         Field = 43 // swapped-out memory
	FieldMemLimit     Field = 44 // the cgroup's memory limit; absent without one
	FieldOpenLate     Field = 45 // ends that completed a record in a chunk that was being written out
	FieldArgsCut      Field = 46 // records with arguments or strings that were cut
	fieldLostEnds     Field = 47 // ends lost: their scopes are there, and show as open
	fieldLostStacks   Field = 48 // stacks lost: they came faster than they are counted
	FieldStacks       Field = 49 // stacks counted: calls of scope.Stack
	FieldOtherStacks  Field = 50 // stacks counted under (other stacks)
	FieldOverwritten  Field = 51 // records of a ring that were overwritten by later ones
	FieldThrottled    Field = 52 // time that the cgroup's CPU limit kept its threads off the CPUs, all CPUs together
	FieldMachineBusy  Field = 53 // time that all CPUs of the machine worked, for whatever program
	FieldSteal        Field = 54 // time that the hypervisor gave all CPUs of the machine to others, while they had work
	FieldAnchoring    Field = 55 // time that threads of the program spent on having their CPU clock read for the recorder, at most 3 µs each time
	fieldLostOpen     Field = 56 // scopes of a ring whose begin was overwritten while they were open, and could not be kept
	FieldPrepared     Field = 57 // chunks that goroutines of the program prepared themselves, because none was ready, in some 10 to 120 µs each
	fieldLostBuffer   Field = 58 // records lost: the memory was full in which they wait for the disk
)

// Fields lists the fields of this version by number.
var Fields = []fieldSpec{
	{FieldUser, "user_ns", true},
	{FieldSystem, "sys_ns", true},
	{FieldRSS, "rss_bytes", false},
	{FieldMinorFaults, "minor_faults", true},
	{FieldMajorFaults, "major_faults", true},
	{FieldVoluntary, "voluntary_switches", true},
	{FieldInvoluntary, "involuntary_switches", true},
	{FieldThreads, "threads", false},
	{FieldThreadCPU, "thread_cpu_ns", false},
	{FieldThreadWait, "thread_wait_ns", false},
	{FieldRestThreads, "rest_threads", false},
	{FieldRestCPU, "rest_cpu_ns", false},
	{FieldRestWait, "rest_wait_ns", false},
	{FieldGoroutines, "goroutines", false},
	{FieldHeap, "heap_bytes", false},
	{FieldHeapGoal, "heap_goal_bytes", false},
	{FieldGCCycles, "gc_cycles", true},
	{FieldGCPauses, "gc_pauses", true},
	{FieldGCPauseNS, "gc_pause_ns", true},
	{FieldGOMAXPROCS, "gomaxprocs", false},
	{FieldCPUs, "cpus", false},
	{FieldCPULimit, "cpu_limit_milli", false},
	{FieldRecorded, "recorded", true},
	{fieldLostWindow, "lost_window", true},
	{fieldLostLimit, "lost_limit", true},
	{fieldLostSpace, "lost_space", true},
	{fieldLostIO, "lost_io", true},
	{fieldLostBusy, "lost_busy", true},
	{fieldLostStop, "lost_stop", true},
	{FieldOwnCPU, "own_cpu_ns", true},
	{FieldOwnUnknown, "own_unknown_ns", true},
	{FieldScopeCost, "scope_cost_ps", false},
	{FieldBytes, "bytes", true},
	{FieldHotFaults, "hot_faults", true},
	{FieldWindowLow, "window_low_bytes", false},
	{FieldNames, "names", false},
	{FieldOtherNames, "other_names", true},
	{FieldDoubleEnds, "double_ends", true},
	{FieldForeignEnds, "foreign_ends", true},
	{FieldStaleEnds, "stale_ends", true},
	{FieldClamped, "cpu_clamped", true},
	{FieldGCPauseMaxNS, "gc_pause_max_ns", false},
	{FieldSwap, "swap_bytes", false},
	{FieldMemLimit, "mem_limit_bytes", false},
	{FieldOpenLate, "late_in_place", true},
	{FieldArgsCut, "args_cut", true},
	{fieldLostEnds, "lost_end", true},
	{fieldLostStacks, "lost_stack", true},
	{FieldStacks, "stacks", true},
	{FieldOtherStacks, "other_stacks", true},
	{FieldOverwritten, "overwritten", true},
	{FieldThrottled, "throttled_ns", true},
	{FieldMachineBusy, "machine_busy_ns", true},
	{FieldSteal, "steal_ns", true},
	{FieldAnchoring, "anchoring_ns", true},
	{fieldLostOpen, "lost_open", true},
	{FieldPrepared, "prepared", true},
	{fieldLostBuffer, "lost_buffer", true},
}

func (f Field) String() string {
	if f > 0 && int(f) <= len(Fields) { // they are in order of their numbers
		return Fields[f-1].Name
	}
	return "field-" + itoa(int(f))
}

// FieldValue is one value of a heartbeat.
type FieldValue struct {
	Field Field
	Value int64
}

// AppendBeat appends a beat block's payload.
func AppendBeat(b []byte, ticks int64, vs []FieldValue) []byte {
	b = appendInts(b, ticks)
	for _, v := range vs {
		b = appendInts(b, int64(v.Field), v.Value)
	}
	return b
}

// DecodeBeat reads a beat block's payload, appending to dst.
func DecodeBeat(dst []FieldValue, p []byte) (ticks int64, vs []FieldValue, err error) {
	v, err := decode(BlockBeat, p)
	if err != nil {
		return 0, dst, err
	}
	for each := v[1:]; len(each) > 0; each = each[2:] {
		dst = append(dst, FieldValue{Field(each[0].N), each[1].N})
	}
	return v[0].N, dst, nil
}

// Thread is one of the busiest threads at a beat.
type Thread struct {
	ID   int64
	CPU  int64 // ns since the thread began
	Wait int64 // ns runnable and not running; -1: unknown
}

// AppendThreads appends a thread block's payload.
func AppendThreads(b []byte, ticks int64, ts []Thread) []byte {
	b = appendInts(b, ticks)
	for _, t := range ts {
		b = appendInts(b, t.ID, t.CPU, t.Wait)
	}
	return b
}

// DecodeThreads reads a thread block's payload, appending to dst.
func DecodeThreads(dst []Thread, p []byte) (ticks int64, ts []Thread, err error) {
	v, err := decode(BlockThread, p)
	if err != nil {
		return 0, dst, err
	}
	for each := v[1:]; len(each) > 0; each = each[3:] {
		dst = append(dst, Thread{each[0].N, each[1].N, each[2].N})
	}
	return v[0].N, dst, nil
}
