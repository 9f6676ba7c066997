package hot

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
)

// openFlags keep an open from blocking if the file is not regular.
const openFlags = syscall.O_NONBLOCK | syscall.O_CLOEXEC

// find opens the hot file of the trace f, or returns nil if there is none that belongs to f. If
// everywhere is set it also searches the file systems of f's writer.
func find(f *os.File, h *format.Header, everywhere bool) *part {
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	p := findIn(roots(f.Name()), f, st, h)
	if p == nil && everywhere {
		p = findIn(rootsOfLock(st), f, st, h)
	}
	return p
}

func findIn(roots []string, f *os.File, st os.FileInfo, h *format.Header) *part {
	for _, root := range roots {
		p, path := openPart(filepath.Join(root+Dir, format.HotName(h.ID)), h.ID, owner(st))
		if p == nil {
			continue
		}
		if !isCopy(f, st, h.ID, root+path, p) {
			return p
		}
		p.file.Close()
	}
	return nil
}

// roots returns the roots of the file systems that a trace can be in: this process's, and that of
// the process through whose files it was found, which may run in a container.
func roots(path string) []string {
	all := []string{""}
	if rest, ok := strings.CutPrefix(path, "/proc/"); ok {
		if pid, _, ok := strings.Cut(rest, "/"); ok && strings.Trim(pid, "0123456789") == "" {
			all = append(all, "/proc/"+pid+"/root")
		}
	}
	return all
}

// maxLocks limits how much of the list of all locks is read.
const maxLocks = 1 << 20

// rootsOfLock returns the roots of the file systems of processes that have the file locked. A
// container whose traces are in a volume has a /dev/shm of its own.
func rootsOfLock(st os.FileInfo) (all []string) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxLocks))
	// 1: FLOCK ADVISORY WRITE 1234 fe:00:56789 0 EOF
	inode := ":" + strconv.FormatUint(s.Ino, 10)
	for line := range strings.Lines(string(b)) {
		if w := strings.Fields(line); len(w) > 5 && w[1] == "FLOCK" && w[3] == "WRITE" && strings.HasSuffix(w[5], inode) {
			all = append(all, "/proc/"+w[4]+"/root")
		}
	}
	return all
}

func owner(st os.FileInfo) int64 {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return int64(s.Uid)
	}
	return -1
}

// openPart opens the hot file at path if it is owned by uid and belongs to the trace with that ID;
// trace is the trace's path in it. Symbolic links are not followed.
func openPart(path string, id [16]byte, uid int64) (p *part, trace string) {
	f, err := newfile.Existing(path, os.O_RDONLY)
	if err != nil {
		return nil, ""
	}
	if st, err := f.Stat(); err == nil && owner(st) == uid {
		if h, err := readHot(f); err == nil && h.ID == id {
			return &part{f, int(h.Slots)}, h.Path
		}
	}
	f.Close()
	return nil, ""
}

// isCopy reports whether the trace f is a copy of the one to which the hot file p belongs, and
// whose path in p is path. If this process does not see the writer's file systems, every other file
// counts as a copy, unless it is being written. So does a file with the same inode and birth on
// another disk while the trace's disk is attached: after that it may be the same disk, attached
// again.
func isCopy(f *os.File, st os.FileInfo, id [16]byte, path string, p *part) bool {
	if o, booted, here := originOf(p.file); o[10] != 0 {
		if is := Identity(f); same(is, o.Trace()) && !elsewhere(&o, booted, is[0]) {
			return false
		}
		if !here {
			return !locked(f)
		}
	}
	if at, err := os.Stat(path); err == nil && at.Mode().IsRegular() {
		if os.SameFile(at, st) {
			return false
		}
		if h, ok := headerOf(path); ok && h.ID == id {
			return true
		}
	}
	// The trace was deleted, or has another name here. A writer that is alive has both files
	// locked.
	return locked(p.file) && !locked(f)
}

func headerOf(path string) (h format.Header, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return h, false
	}
	defer f.Close()
	h, _, ok = readHeader(f)
	return h, ok
}

// readHeader reads a trace file's header.
func readHeader(f *os.File) (h format.Header, s format.State, ok bool) {
	var b [format.StateOffset + format.StateSize]byte
	n, _ := f.ReadAt(b[:], 0)
	h, s, err := format.DecodeHeader(b[:n])
	return h, s, err == nil
}

// locked reports whether a process holds the lock of f, as far as can be determined. It opens the
// file again: f may be the writer's own, whose lock would be released.
func locked(f *os.File) bool {
	g, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return true
	}
	defer g.Close()
	return flock(g, syscall.LOCK_SH) == syscall.EWOULDBLOCK
}

// flock does not block. The lock ends with the last file descriptor of this opening.
func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != syscall.EINTR {
			return err
		}
	}
}
