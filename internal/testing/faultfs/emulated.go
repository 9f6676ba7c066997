package faultfs

import (
	"bytes"
	"os"
	"testing"
)

// Emulated reports whether the processor is emulated by QEMU's user mode, which takes
// seconds to map a gigabyte and ignores advice about memory.
func Emulated() bool {
	comm, _ := os.ReadFile("/proc/self/comm")
	return bytes.HasPrefix(comm, []byte("qemu-"))
}

// Children skips a test that starts processes if the processor is emulated. The kernel does
// not run programs of the emulated processor, and the emulator's fork can deadlock on a lock
// of another thread.
func Children(t testing.TB) {
	t.Helper()
	if Emulated() {
		t.Skip("this processor is emulated, and the emulator does not run children")
	}
}
