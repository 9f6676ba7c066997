package sys

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestWipe checks which of the program's pages the kernel zeroes in children of fork(2):
// those with Live's words, and no others.
func TestWipe(t *testing.T) {
	if faultfs.Emulated() {
		t.Skip("the kernel does not list the emulator's mappings")
	}
	if err := Wipe(); err != nil {
		t.Fatal(err)
	}
	b := filetest.Read(t, "/proc/self/smaps")
	var wiped, from, to uintptr
	for line := range strings.Lines(string(b)) {
		var a, b uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &a, &b); n == 2 {
			from, to = a, b
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && strings.Contains(flags, " wf") {
			wiped += to - from
			first, last := uintptr(unsafe.Pointer(&Live.On)), uintptr(unsafe.Pointer(&Live.lay))+unsafe.Sizeof(Live.lay)
			whole := uintptr(unsafe.Pointer(&Live))
			if from > first || to < last || from < whole || to > whole+unsafe.Sizeof(Live) {
				t.Errorf("%x-%x are wiped; what says it is at %x-%x, and its room is %x-%x", from, to, first, last, whole, whole+unsafe.Sizeof(Live))
			}
		}
	}
	if page := uintptr(os.Getpagesize()); wiped != page && wiped != 2*page {
		t.Errorf("%d bytes are wiped, want a page or two of %d", wiped, page)
	}
	if Forked() {
		t.Error("this process is no child of itself")
	}
}
