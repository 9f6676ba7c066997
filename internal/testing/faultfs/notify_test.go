//go:build linux && !scope_off

package faultfs_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A refusal has a process's system calls fail from outside: a seccomp filter asks this
// process about each (SECCOMP_RET_USER_NOTIF). Only calls that go through the one system
// call instruction of Go's packages are refused. The runtime has instructions of its own,
// and ends a program whose memory it can't get.
type refusal struct {
	nth   int  // the call that fails, from 1 on
	onOn  bool // and all that follow
	round int  // rotates the errors

	ip      uint64 // of the instruction
	armed   bool
	calls   int // while armed
	refused int
	what    string // the first that was refused
}

// refusable are the calls that are asked about, and their plausible errors. EINTR is
// never for good.
var refusable = map[int32][]unix.Errno{
	unix.SYS_MMAP:            {unix.ENOMEM, unix.EAGAIN, unix.EPERM, unix.ENODEV},
	unix.SYS_MREMAP:          {unix.ENOMEM, unix.EAGAIN},
	unix.SYS_MUNMAP:          {unix.ENOMEM},
	unix.SYS_MPROTECT:        {unix.ENOMEM, unix.EACCES},
	unix.SYS_MADVISE:         {unix.ENOMEM, unix.EAGAIN, unix.EINVAL, unix.EPERM},
	unix.SYS_MUNLOCK:         {unix.ENOMEM, unix.EPERM},
	unix.SYS_FALLOCATE:       {unix.ENOSPC, unix.EINTR, unix.EPERM, unix.EIO, unix.EOPNOTSUPP},
	unix.SYS_MEMFD_CREATE:    {unix.EPERM, unix.ENOMEM, unix.EMFILE, unix.ENOSYS},
	unix.SYS_FTRUNCATE:       {unix.ENOSPC, unix.EINTR, unix.EPERM, unix.EIO},
	unix.SYS_MSYNC:           {unix.ENOMEM, unix.EIO},
	unix.SYS_SYNC_FILE_RANGE: {unix.ENOSPC, unix.EIO, unix.ENOMEM},
	unix.SYS_FADVISE64:       {unix.EPERM, unix.EINVAL},
}

// populateErrors are those of MADV_POPULATE_WRITE.
var populateErrors = []unix.Errno{unix.ENOMEM, unix.EINTR, unix.EFAULT, unix.EINVAL, unix.EAGAIN}

var callNames = map[int32]string{
	unix.SYS_MMAP: "mmap", unix.SYS_MREMAP: "mremap", unix.SYS_MUNMAP: "munmap", unix.SYS_MPROTECT: "mprotect",
	unix.SYS_MADVISE: "madvise", unix.SYS_MUNLOCK: "munlock", unix.SYS_FALLOCATE: "fallocate",
	unix.SYS_MEMFD_CREATE: "memfd_create", unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_MSYNC: "msync",
	unix.SYS_SYNC_FILE_RANGE: "sync_file_range", unix.SYS_FADVISE64: "fadvise",
}

// Orders that the refused process gives by a call of madvise that means nothing.
const (
	orderMark = 0x5c0be000
	orderArm  = 1 // returns 0
	orderRest = 2 // returns how many calls were refused
)

func order(what uintptr) int {
	n, _, _ := unix.Syscall(unix.SYS_MADVISE, orderMark, what, 77)
	return int(n)
}

// seccompNotif and seccompResp are the kernel's.
type seccompNotif struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type seccompResp struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

const (
	notifRecv     = 0xc0502100
	notifSend     = 0xc0182101
	respContinue  = 1
	waitKillable  = 1 << 5 // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV: signals don't ask twice
	tsyncESRCH    = 1 << 4
	newListener   = 1 << 3
	tsync         = 1 << 0
	retUserNotif  = 0x7fc00000
	retErrno      = 0x00050000
	retAllow      = 0x7fff0000
	filterArgs0   = 16 // struct seccomp_data: args[0]'s lower half
	filterNumber  = 0
	bpfLoad       = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	bpfJumpEqual  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bpfReturn     = unix.BPF_RET | unix.BPF_K
	maxAsked      = 1 << 10
	pollMillis    = 100
	filterVisible = unix.PR_GET_SECCOMP
)

// listen gives the calling process the filter, and returns the descriptor that answers.
// It answers no to queries for a filter, or the recorder would not try the calls for which
// filters may kill.
func listen() (int, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := []unix.SockFilter{{Code: bpfLoad, K: filterNumber},
		{Code: bpfJumpEqual, K: unix.SYS_PRCTL, Jf: 4},
		{Code: bpfLoad, K: filterArgs0},
		{Code: bpfJumpEqual, K: filterVisible, Jf: 1},
		{Code: bpfReturn, K: retErrno},
		{Code: bpfReturn, K: retAllow},
	}
	for nr := range refusable {
		f = append(f, unix.SockFilter{Code: bpfJumpEqual, K: uint32(nr), Jf: 1}, unix.SockFilter{Code: bpfReturn, K: retUserNotif})
	}
	f = append(f, unix.SockFilter{Code: bpfReturn, K: retAllow})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("no_new_privs: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, newListener|tsync|tsyncESRCH|waitKillable, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return 0, fmt.Errorf("seccomp: %w", errno)
	}
	return int(fd), nil
}

// asks skips where no filter can ask another process.
func asks(t *testing.T) {
	t.Helper()
	var sizes [3]uint16
	const getNotifSizes = 3
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, getNotifSizes, 0, uintptr(unsafe.Pointer(&sizes))); errno != 0 {
		t.Skipf("no seccomp filter that asks: %v", errno)
	}
	if fd, err := unix.PidfdOpen(os.Getpid(), 0); err != nil {
		t.Skipf("pidfd_open: %v", err)
	} else if dup, err := unix.PidfdGetfd(fd, fd, 0); err != nil {
		t.Skipf("pidfd_getfd: %v", err)
	} else {
		unix.Close(dup)
		unix.Close(fd)
	}
}

// listener is a copy of the descriptor fd that a process will get by listen. Its runtime
// may have to be answered before it can say anything more.
func listener(pid, fd int) (int, error) {
	p, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, fmt.Errorf("pidfd_open: %w", err)
	}
	defer unix.Close(p)
	name := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		if to, _ := os.Readlink(name); !strings.Contains(to, "seccomp") {
			continue
		}
		l, err := unix.PidfdGetfd(p, fd, 0)
		if err != nil {
			return 0, fmt.Errorf("pidfd_getfd: %w", err)
		}
		return l, nil
	}
	return 0, errors.New("there is no filter")
}

// answer answers all calls until the process is gone.
func (r *refusal) answer(fd int) error {
	defer unix.Close(fd)
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(p, pollMillis); err != nil && err != unix.EINTR {
			return err
		}
		if p[0].Revents&unix.POLLIN == 0 {
			if p[0].Revents&unix.POLLHUP != 0 {
				return nil
			}
			continue
		}
		var n seccompNotif
		if err := ask(fd, notifRecv, unsafe.Pointer(&n)); errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
			continue // it was killed meanwhile
		} else if err != nil {
			return err
		}
		a := r.decide(&n)
		if err := ask(fd, notifSend, unsafe.Pointer(&a)); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
}

func ask(fd int, what uintptr, p unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), what, uintptr(p)); errno != 0 {
		return errno
	}
	return nil
}

func (r *refusal) decide(n *seccompNotif) seccompResp {
	a := seccompResp{id: n.id, flags: respContinue}
	if n.nr == unix.SYS_MADVISE && n.args[0] == orderMark && n.args[2] == 77 {
		r.ip, a.flags = n.ip, 0
		r.armed = n.args[1] == orderArm
		if !r.armed {
			a.val = int64(r.refused)
		}
		return a
	}
	if !r.armed || n.ip != r.ip {
		return a
	}
	r.calls++
	if r.calls < r.nth || r.calls > r.nth && !r.onOn {
		return a
	}
	errnos := refusable[n.nr]
	if n.nr == unix.SYS_MADVISE && n.args[2] == unix.MADV_POPULATE_WRITE {
		errnos = populateErrors
	}
	errno := errnos[(r.nth+r.round)%len(errnos)]
	if errno == unix.EINTR && r.onOn {
		errno = errnos[0]
	}
	if r.refused++; r.refused == 1 {
		r.what = fmt.Sprintf("%s(%#x, %#x, %#x, %#x): %v", callNames[n.nr], n.args[0], n.args[1], n.args[2], n.args[3], errno)
	}
	a.flags, a.err = 0, -int32(errno)
	return a
}
