package sys

import (
	"os"
	"unsafe"
)

// maxPage is at least the page size of any system.
const maxPage = 1 << 16

// Live holds the words that say that this process records. It is on pages of its own,
// so that the kernel can replace them by zeros in a child of fork(2) (Wipe), which then
// does not record: the recorder's mappings do not exist there, and the files are not
// its own. So the fast path needs no instruction to check that.
var Live struct {
	_       [maxPage]byte
	On      uint32 // see scope: whether a recording is running, and by which path
	_       uint32 // aligns Locking where int has 32 bits: storing it panics otherwise
	Locking uint64 // see scope: whether locks are watched
	lay     layout // LAY in the assembly
	_       [maxPage]byte
}

// livePages returns the pages that hold the words, as offsets from Live.
func livePages() (from, to uintptr) {
	page, base := uintptr(os.Getpagesize()), uintptr(unsafe.Pointer(&Live))
	from = (base + unsafe.Offsetof(Live.On)) &^ (page - 1)
	to = (base + unsafe.Offsetof(Live.lay) + unsafe.Sizeof(Live.lay) + page - 1) &^ (page - 1)
	return from - base, to - base
}

// home is the process in which the program started.
var home = os.Getpid()

// Forked reports whether this process is a child that C code forked and that continued
// as the same program. Only one thread exists in it, and locks held by others stay
// locked.
func Forked() bool { return os.Getpid() != home }
