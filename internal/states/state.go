// Package states determines what each goroutine did at every moment: whether it ran, and
// on a CPU, and if not, what it waited for.
//
// # Design
//
// The Go execution trace has what the goroutine did as Go's scheduler sees it, and on
// which thread; the switches have when that thread was on a CPU. A state combines the two.
// The rules:
//
//  1. A goroutine's intervals follow each other without gaps, and are split where
//     its thread went on or off the CPU. So they add up to its life, whatever the
//     switches are.
//  2. If the thread's switches are unknown, running stays running, and a system call a
//     system call; neither is taken for CPU time.
//  3. Switches are read by thread, a block at a time, as the execution trace gets to
//     them. Memory holds the goroutines and, for each thread, the current block
//     and 24 bytes for each of the others.
//
// The checks cover what these rules do not ensure: time on CPUs against the threads' CPU
// clocks, and how much remains other or unknown. Attach gives trace.Events the CPU times
// of scopes that the recorder could not measure (trace.UseCPU). The Go trace is read when
// events are first read, unless an earlier reading has computed the times too (CPUTimes).
package states

// State is the state of a goroutine. Its states follow each other without gaps from its
// first moment in the recording to its last.
type State uint8

// From the Go execution trace and, for running and system calls, from the switches of the
// thread.
const (
	Unknown   State = iota // not covered by the trace
	CPU                    // it runs, and its thread is on a CPU
	Running                // it runs, as Go sees it; whether its thread was on a CPU is unknown
	Preempted              // it runs, or is in a system call, but the system had preempted its thread
	TextFault              // it runs, but its thread waited for a page of instructions: a major page fault
	DataFault              // likewise, for a page of memory that it reads or writes
	Stalled                // it runs, as Go sees it, but its thread waited in the kernel for something else: the kernel's locks, or the runtime's
	Runnable               // it waits for one of Go's processors
	Syscall                // it is in a system call, and its thread is on a CPU, or that is unknown
	Blocked                // it is in a system call, and its thread is off the CPU
	Lock                   // it waits for a mutex, or a readers-writer lock
	Join                   // it waits in sync.WaitGroup
	Cond                   // it waits in sync.Cond
	Channel                // it waits to send or to receive, or for the other side of iter.Pull
	Select                 // it waits in select with several cases, or with none
	Network                // it waits for the network, or a file that can be polled
	Sleep                  // it sleeps for a given time
	GC                     // it helps, or waits for, the garbage collector; or the world is stopped
	Other                  // it waits for anything else: the runtime's own goroutines, a debugger
	Count                  // number of states
)

// Names are the names of the states by number, as the tools show them.
var Names = [Count]string{"unknown", "cpu", "running", "preempted", "textfault", "datafault", "stalled", "runnable", "syscall", "blocked", "lock", "join", "cond",
	"channel", "select", "network", "sleep", "gc", "other"}

func (s State) String() string {
	if s < Count {
		return Names[s]
	}
	return "state-?"
}

// Interval is a stretch of a goroutine's time in one state.
type Interval struct {
	Goid       uint64
	From, To   int64 // ns from the trace's start
	State      State
	On         bool   // its thread is known to have been on a CPU, whatever the state
	Thread     uint32 // the system's id, while it runs or is in a system call; 0: unknown
	Proc       int32  // likewise: Go's processor, unless another goroutine took it during a system call; -1: none, or unknown
	Stack      uint32 // where it is, or blocked; an index for gotrace's stacks, 0: unknown
	By         uint64 // the goroutine that woke it at To; 0: none, or unknown
	ByStack    uint32 // the stack of that goroutine
	ReasonName string // of waits: Go's own reason
}
