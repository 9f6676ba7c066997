//go:build !scope_off

package record

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/snapshot"
	"github.com/scopeview/scopeview/internal/sys"
)

// hotLeast is the minimum size of a hot file, and what the tmpfs must have free in
// addition.
const hotLeast = 16 << 20

// hotFits returns how many bytes are free for a hot file of up to most bytes, or why there
// should be none.
func hotFits(most int64) (free int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(hot.Dir, &s); err != nil {
		return 0, fmt.Errorf("%s: %w", hot.Dir, err)
	}
	if s.Type != unix.TMPFS_MAGIC {
		return 0, fmt.Errorf("%s is not in memory", hot.Dir)
	}
	if most < hotLeast {
		return 0, fmt.Errorf("the memory limit leaves %d bytes for it", most)
	}
	if free = int64(s.Bavail) * int64(s.Bsize); free < 2*hotLeast {
		return 0, fmt.Errorf("%s has only %d bytes free", hot.Dir, free)
	}
	return free, nil
}

// joined returns the trace as readers see it, including the hot file's contents; done
// releases it.
func (r *recorder) joined() (src snapshot.Source, done func(), err error) {
	path := r.path
	if r.opts.segments > 0 {
		if path, err = filepath.Abs(path); err != nil {
			return nil, nil, err
		}
	} else if r.hot == nil {
		return r.file, func() {}, nil
	}
	fd, err := r.another()
	if err != nil {
		return nil, nil, err
	}
	j, err := hot.Join(os.NewFile(uintptr(fd), path))
	if err != nil {
		return nil, nil, err
	}
	return j, func() { j.Close() }, nil
}

// adopt moves the hot files of killed programs into their traces. Then, after a round, it
// syncs this trace's beginning to the disk, so that a readable file survives a power
// failure; local file systems sync its name with it. It does so once, because other
// writers wait for a sync. Stop does not wait for any of this: the disks are not ours.
func (r *recorder) adopt() {
	r.flusher.Cost.Round(func() {
		_, _ = hot.Adopt(func() bool {
			select {
			case <-r.quit:
				return false
			default:
				return true
			}
		})
	})
	select {
	case <-r.quit:
	case <-time.After(2 * r.opts.FlushEvery):
		r.flusher.Cost.Round(r.syncFile)
	}
}

// syncFile syncs the trace to the disk. It uses a descriptor of its own: Stop does not
// wait for the disk, and the number of a descriptor that Stop has closed may already be
// one of the program's.
func (r *recorder) syncFile() {
	r.copying.Lock()
	fd := -1
	if !r.shut {
		fd, _ = r.another()
	}
	r.copying.Unlock()
	if fd >= 0 {
		_ = unix.Fsync(fd)
		_ = unix.Close(fd)
	}
}

// another returns another descriptor of the trace's file.
func (r *recorder) another() (int, error) {
	return unix.FcntlInt(r.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

// inMemory reports whether the trace itself lies in memory.
func inMemory(f *os.File) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &s) == nil && (s.Type == unix.TMPFS_MAGIC || uint32(s.Type) == unix.RAMFS_MAGIC)
}

// createHot creates the trace's hot file, and makes the pool use it.
func (r *recorder) createHot(po *pool.Options) error {
	free, err := hotFits(po.Memory)
	if err != nil {
		return err
	}
	if r.opts.buffer == 0 {
		po.Memory = waitShare(free, r.sampler.Available, r.waitPart)
	}
	path, err := filepath.Abs(r.path)
	if err != nil {
		return err
	}
	slots := uint32(min(po.Memory/format.ChunkSize, format.MaxHotSlots))
	b, err := format.AppendHotHeader(nil, &format.HotHeader{Slots: slots, ID: r.id, Path: path})
	if err != nil {
		return err
	}
	f, err := newfile.Create(filepath.Join(hot.Dir, format.HotName(r.id)))
	if err != nil {
		return err
	}
	sys.TryLock(f)
	if err = newfile.Truncate(f, format.HotSize(int(slots))); err == nil {
		_, err = newfile.WriteAt(f, b, 0)
	}
	if err == nil {
		o := hot.Origin(r.file, path)
		_, err = newfile.WriteAt(f, o.Append(nil), format.HotOriginOffset)
	}
	if err != nil {
		removeTrace(&traceFile{f})
		return err
	}
	r.hot, po.Hot, po.HotSlots = f, f, slots
	return nil
}
