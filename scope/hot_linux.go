//go:build !scope_off

package scope

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/mmpool"
)

// hotDir is where hot files are made: memory that outlives the process.
const hotDir = "/dev/shm"

// What a hot file may take of memory: up to hotMost, of a container with little
// memory a part, and none below hotLeast, which is what tmpfs must have free too.
const (
	hotMost  = 128 << 20
	hotLeast = 16 << 20
	hotPart  = 16
)

// hotFits tells how many bytes a hot file may have, or why there should be none.
func (r *recorder) hotFits() (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(hotDir, &s); err != nil {
		return 0, fmt.Errorf("%s: %w", hotDir, err)
	}
	if s.Type != unix.TMPFS_MAGIC {
		return 0, fmt.Errorf("%s is not in memory", hotDir)
	}
	most := int64(hotMost)
	values, _ := r.sampler.Sample(nil, nil)
	for _, v := range values {
		if v.Field == format.FieldMemLimit && v.Value > 0 {
			most = min(most, v.Value/hotPart)
		}
	}
	if most < hotLeast {
		return 0, fmt.Errorf("the memory limit leaves %d bytes for it", most)
	}
	if free := int64(s.Bavail) * int64(s.Bsize); free < 2*hotLeast {
		return 0, fmt.Errorf("%s has only %d bytes free", hotDir, free)
	}
	return most, nil
}

// inMemory tells whether the trace itself is in memory.
func inMemory(f *os.File) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &s) == nil && (s.Type == unix.TMPFS_MAGIC || s.Type == unix.RAMFS_MAGIC)
}

// createHot makes the trace's hot file, and has the pool use it.
func (r *recorder) createHot(po *mmpool.Options) error {
	most, err := r.hotFits()
	if err != nil {
		return err
	}
	path, err := filepath.Abs(r.path)
	if err != nil {
		return err
	}
	slots := uint32(min(most/format.ChunkSize, format.MaxHotSlots))
	b, err := format.AppendHotHeader(nil, &format.HotHeader{Slots: slots, ID: r.id, Path: path})
	if err != nil {
		return err
	}
	hot, err := os.OpenFile(filepath.Join(hotDir, format.HotName(r.id)), os.O_RDWR|os.O_CREATE|os.O_EXCL|sys.OpenFlags, 0o600)
	if err != nil {
		return err
	}
	sys.TryLock(hot)
	_ = hot.Chmod(0o600)
	if err = hot.Truncate(format.HotSize(int(slots))); err == nil {
		_, err = hot.WriteAt(b, 0)
	}
	if err != nil {
		removeTrace(&traceFile{hot})
		return err
	}
	r.hot, po.Hot, po.HotSlots = hot, hot, slots
	return nil
}
