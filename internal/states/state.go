// Package states tells what each goroutine did at every moment: whether it ran, and on
// a CPU, and if not, what it waited for.
//
// # Design
//
// The Go execution trace says what the goroutine did as Go's scheduler sees it, and on
// which thread; the switches say when that thread was on a CPU. Where the two are laid
// over each other is a state. What this rests on:
//
//  1. A goroutine's intervals follow each other without gaps, and are cut in two where
//     its thread came onto a CPU or left it. So they add up to its life, whatever the
//     switches say.
//  2. Where nothing is known of the thread, running stays running, and a system call a
//     system call; neither is taken for CPU time.
//  3. Switches are read by thread, a block at a time, as the execution trace gets to
//     them. In memory are the goroutines, and of each thread the block that its time is
//     in and 24 bytes for each of the others.
//
// The checks compare what does not follow from that: time on CPUs with the threads' CPU
// clocks, and how much stays other or unknown. Attach gives trace.Events the CPU times of
// scopes that the recorder could not tell (trace.UseCPU). The Go trace is read when events
// first are, unless something else read it before and took them along (CPUTimes).
package states

// State is what a goroutine is doing. The states of a goroutine follow each other
// without gaps from its first moment in the recording to its last.
type State uint8

// From the Go execution trace and, of what it calls running or in a system call, from
// the switches of the thread.
const (
	Unknown   State = iota // the trace does not tell
	CPU                    // it runs, and its thread is on a CPU
	Running                // it runs, as Go sees it; whether its thread was on a CPU is not known
	Preempted              // it runs, or is in a system call, but the system had put its thread off the CPU
	TextFault              // it runs, but its thread waited for a page with the instructions to come: a major page fault
	DataFault              // the same, for a page of memory that it reads or writes
	Stalled                // it runs, as Go sees it, but its thread waited in the kernel for something else: the kernel's locks, or the runtime's
	Runnable               // it waits for one of Go's processors
	Syscall                // it is in a system call, and its thread is on a CPU, or that is not known
	Blocked                // it is in a system call, and its thread is off the CPU
	Lock                   // it waits for a mutex, or a lock for readers and writers
	Join                   // it waits in sync.WaitGroup
	Cond                   // it waits in sync.Cond
	Channel                // it waits to send or to receive, or for the other side of iter.Pull
	Select                 // it waits in select with several cases, or with none
	Network                // it waits for the network, or a file that can be polled
	Sleep                  // it sleeps for a time that it chose
	GC                     // it helps, or waits for, the garbage collector; or the world is stopped
	Other                  // whatever else it waits for: the runtime's own goroutines, a debugger
	Count                  // how many there are
)

// Names are the states by number, as the tools show them.
var Names = [Count]string{"unknown", "cpu", "running", "preempted", "textfault", "datafault", "stalled", "runnable", "syscall", "blocked", "lock", "join", "cond",
	"channel", "select", "network", "sleep", "gc", "other"}

func (s State) String() string {
	if s < Count {
		return Names[s]
	}
	return "state-?"
}

// Interval is a stretch of one goroutine's time in one state.
type Interval struct {
	Goid       uint64
	From, To   int64 // ns from the trace's start
	State      State
	On         bool   // its thread is known to have been on a CPU, whatever the state
	Thread     uint32 // the system's id, while it runs or is in a system call; 0: not known
	Proc       int32  // the same: Go's processor, as far as no other goroutine took it during a system call; -1: none, or not known
	Stack      uint32 // where it is, or blocked; an index for gotrace's stacks, 0: not known
	By         uint64 // the goroutine that woke it at To; 0: none, or not known
	ByStack    uint32 // where that was
	ReasonName string // of waits: Go's own word for it
}
