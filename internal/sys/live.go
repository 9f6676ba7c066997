package sys

import (
	"os"
	"unsafe"
)

// maxPage is as large as the pages of any system.
const maxPage = 1 << 16

// Live is what says that this process records. It is on pages of its own, so that the
// kernel can give a child of fork(2) zeros for them (Wipe), which say that it does not:
// what is mapped here is not there, and the files are not its own. So the fast path
// needs no instruction to find that out.
var Live struct {
	_       [maxPage]byte
	On      uint32 // see scope: whether a recording is running, and by which path
	_       uint32 // where an int has 32 bits: else who stores Locking panics
	Locking uint64 // see scope: whether locks are watched
	lay     layout // LAY in the assembly
	_       [maxPage]byte
}

// livePages is where the pages are that have what says it, from Live on.
func livePages() (from, to uintptr) {
	page, base := uintptr(os.Getpagesize()), uintptr(unsafe.Pointer(&Live))
	from = (base + unsafe.Offsetof(Live.On)) &^ (page - 1)
	to = (base + unsafe.Offsetof(Live.lay) + unsafe.Sizeof(Live.lay) + page - 1) &^ (page - 1)
	return from - base, to - base
}

// home is the process in which the program began.
var home = os.Getpid()

// Forked reports whether this process is a child that C code forked and that went on
// as the same program. Of its threads there is one, and whatever another one held stays
// locked.
func Forked() bool { return os.Getpid() != home }
