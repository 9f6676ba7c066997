//go:build linux && amd64

// Package step executes a thread of another process instruction by instruction, and leaves
// it stopped at any point, while the process's other threads run. Only tests import it.
//
// The thread itself marks where stepping begins and ends: it calls Mark, a system call with
// a number that the kernel does not have.
package step

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// number is not the number of any system call.
const number = 5000

// Mark signals place n to the tracer of this thread. Without a tracer it does nothing.
func Mark(n int) { _, _, _ = unix.RawSyscall(number, uintptr(n), 0, 0) }

// Thread is a stepped thread. All its methods, and Seize, must be called on one goroutine
// locked to its thread: the kernel requires the same tracer.
type Thread struct {
	tid  int
	regs unix.PtraceRegs
	late atomic.Bool
}

// errWaits is returned if a thread does not stop: it waits in the kernel, possibly for a
// stopped thread. It stays there.
var errWaits = errors.New("the thread waits")

// patience is the maximum time of a step; a variable for the test.
var patience = 5 * time.Second

// Seize stops the thread.
func Seize(tid int) (*Thread, error) {
	t := &Thread{tid: tid}
	// unix.PtraceSeize has no parameter for options.
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, unix.PTRACE_O_TRACESYSGOOD, 0, 0); e != 0 {
		return nil, fmt.Errorf("seizing thread %d: %w", tid, e)
	}
	if err := unix.PtraceInterrupt(tid); err != nil {
		return nil, fmt.Errorf("stopping thread %d: %w", tid, err)
	}
	_, err := t.wait()
	return t, err
}

// wait waits until the thread has stopped, and returns the signal.
func (t *Thread) wait() (unix.Signal, error) {
	var ws unix.WaitStatus
	// A signal interrupts a system call.
	late := time.AfterFunc(patience, func() {
		t.late.Store(true)
		_, _, _ = unix.RawSyscall(unix.SYS_TKILL, uintptr(t.tid), uintptr(unix.SIGURG), 0)
	})
	defer late.Stop()
	for {
		_, err := unix.Wait4(t.tid, &ws, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("waiting for thread %d: %w", t.tid, err)
		}
		if !ws.Stopped() {
			return 0, fmt.Errorf("thread %d has ended: %#x", t.tid, uint32(ws))
		}
		if t.late.Load() {
			return 0, fmt.Errorf("thread %d: %w", t.tid, errWaits)
		}
		return ws.StopSignal(), nil
	}
}

// ToMark runs the thread until it reaches Mark(n).
func (t *Thread) ToMark(n int) error {
	for {
		if err := t.toCall(); err != nil {
			return err
		}
		if t.regs.Orig_rax == number && t.regs.Rdi == uint64(n) {
			return t.toCall() // that was the system call's entry
		}
	}
}

// toCall runs the thread until a system call begins or ends. Signals, such as the runtime's
// for preemption, are suppressed.
func (t *Thread) toCall() error {
	for {
		if err := unix.PtraceSyscall(t.tid, 0); err != nil {
			return fmt.Errorf("letting thread %d run: %w", t.tid, err)
		}
		s, err := t.wait()
		if err != nil {
			return err
		}
		if s != unix.SIGTRAP|0x80 {
			continue
		}
		if err := unix.PtraceGetRegs(t.tid, &t.regs); err != nil {
			return fmt.Errorf("reading the registers of thread %d: %w", t.tid, err)
		}
		return nil
	}
}

// Step executes one instruction. It reports whether the next one is the system call of
// Mark(n), which it does not execute.
func (t *Thread) Step(n int) (there bool, err error) {
	for {
		if _, _, err := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SINGLESTEP, uintptr(t.tid), 0, 0, 0, 0); err != 0 {
			return false, fmt.Errorf("stepping thread %d: %w", t.tid, err)
		}
		s, err := t.wait()
		if err != nil {
			return false, err
		}
		switch s {
		case unix.SIGTRAP:
			if err := unix.PtraceGetRegs(t.tid, &t.regs); err != nil {
				return false, fmt.Errorf("reading the registers of thread %d: %w", t.tid, err)
			}
			return t.regs.Rax == number && t.regs.Rdi == uint64(n) && t.atSyscall(), nil
		case unix.SIGSEGV, unix.SIGBUS, unix.SIGILL, unix.SIGFPE:
			return false, fmt.Errorf("thread %d gets %v at %#x", t.tid, s, t.regs.Rip)
		}
		// Any other signal is suppressed, and the instruction was not executed.
	}
}

func (t *Thread) atSyscall() bool {
	var b [2]byte
	n, err := unix.PtracePeekText(t.tid, uintptr(t.regs.Rip), b[:])
	return err == nil && n == 2 && b == [2]byte{0x0f, 0x05}
}

// Detach releases the thread.
func (t *Thread) Detach() error {
	if err := unix.PtraceDetach(t.tid); err != nil {
		return fmt.Errorf("letting thread %d go: %w", t.tid, err)
	}
	return nil
}

// Reap collects the thread's death, which its process's parent cannot see before.
func (t *Thread) Reap() {
	for {
		if _, err := t.wait(); err != nil {
			return
		}
	}
}

// ID returns the system's number of the thread.
func (t *Thread) ID() int { return t.tid }

// At returns the address of the next instruction.
func (t *Thread) At() uint64 { return t.regs.Rip }

// Word returns the word at an address of the thread's process.
func (t *Thread) Word(addr uint64) (uint32, error) {
	var b [4]byte
	if n, err := unix.PtracePeekData(t.tid, uintptr(addr), b[:]); err != nil || n != len(b) {
		return 0, fmt.Errorf("reading the memory of thread %d at %#x: %w", t.tid, addr, err)
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}
