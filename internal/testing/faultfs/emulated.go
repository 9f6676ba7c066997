package faultfs

import (
	"bytes"
	"os"
	"testing"
)

// Emulated reports whether the processor is one of QEMU's user mode: mapping a gigabyte
// takes it seconds, and advice about memory is nothing to it.
func Emulated() bool {
	comm, _ := os.ReadFile("/proc/self/comm")
	return bytes.HasPrefix(comm, []byte("qemu-"))
}

// Children skips what starts processes where the processor is emulated. The kernel
// does not run the emulated processor's programs, and the emulator's fork can wait for
// ever, for a lock that another of its threads had.
func Children(t testing.TB) {
	t.Helper()
	if Emulated() {
		t.Skip("this processor is emulated, and the emulator does not run children")
	}
}
