package pool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/sys"
)

// addresses is the process's range: every recording maps its file into it, except one that needs
// more. The used part of an old range stays reserved, so that no stale address is ever reused.
var addresses struct {
	sync.Mutex
	r    *sys.Range
	busy bool
}

// memfdCreate is replaced by a test, as a sandbox may refuse the call.
var memfdCreate = unix.MemfdCreate

// mapped is the common part of backings with mapped chunks: the chunk n lies n × 64 KiB behind the
// range's base.
type mapped struct {
	name string
	r    *sys.Range
	size int64         // bytes of r that are ours
	cold *atomic.Int64 // see Pool.unprepared

	// The file that detached addresses are mapped to, -1 if there is none. It is as long as all
	// addresses and has no pages, so that neighbours are one mapping, and a system that does not
	// overcommit charges nothing.
	nowhere int
	apart   bool
	late    bool // stores may come after Close: those of the Go path
}

// newApart reserves addresses of its own, which close frees.
func newApart(p *Pool, limit int64) (*mapped, error) {
	r, err := sys.NewRange(limit)
	if err != nil {
		return nil, err
	}
	p.addresses = r
	return &mapped{name: p.file.f.Name(), r: r, size: limit, cold: &p.unprepared, nowhere: -1, apart: true}, nil
}

// newMapped takes the process's range; detaches reports whether chunks will leave it one by one.
func newMapped(p *Pool, o *Options, detaches bool) (*mapped, error) {
	addresses.Lock()
	defer addresses.Unlock()
	if addresses.busy {
		return nil, errors.New("another pool is mapped")
	}
	size := cmp.Or(o.Addresses, o.Limit, MaxAddresses)
	if err := reserve(size); err != nil {
		return nil, err
	}
	p.addresses = addresses.r
	m := &mapped{name: p.file.f.Name(), r: p.addresses, size: min(size, p.addresses.Size()), cold: &p.unprepared, nowhere: -1, late: o.States == nil}
	if detaches || m.late {
		if fd, err := memfdCreate("scopeview", unix.MFD_CLOEXEC); err == nil {
			if newfile.Room(m.name, m.r.Size()) != nil || unix.Ftruncate(fd, m.r.Size()) != nil {
				unix.Close(fd)
				fd = -1
			}
			m.nowhere = fd
		}
	}
	addresses.busy = true
	return m, nil
}

// fewAddresses is the smallest range that is tried: some processors have few addresses, an emulator
// fewer.
const fewAddresses = 1 << 30

// reserve makes the range size bytes long, or shorter if the system gives no more. The used part of
// a range that is too short is abandoned, so each range is as long as possible.
func reserve(size int64) error {
	for n := int64(MaxAddresses); addresses.r == nil || addresses.r.Size() < min(size, n); n /= 4 {
		if r, err := sys.NewRange(n); err == nil {
			addresses.r = r
		} else if n < fewAddresses {
			return err
		}
	}
	return nil
}

// release maps the chunks' addresses to nowhere: a goroutine that lags by one recording reads
// nothing there, and a late store of the Go path, which can't be waited for, does no harm. If the
// system refuses that, the file stays mapped, which is harmless too.
func (m *mapped) release() error {
	if m.apart {
		return m.r.Free()
	}
	// Chunk 0 is writable at every moment: a goroutine may be about to count a loss there.
	err := m.r.VacateAll(m.nowhere, ChunkSize, m.late)
	if e := m.r.Vacate(-1, 0, ChunkSize, true); err == nil {
		err = e
	}
	if m.nowhere >= 0 {
		unix.Close(m.nowhere)
	}
	addresses.Lock()
	addresses.busy = false
	addresses.Unlock()
	return err
}

func (m *mapped) words(idx int64) []uint64 {
	if uint64(idx) >= uint64(m.size/ChunkSize) {
		return nil
	}
	return m.r.Words(idx*ChunkSize, ChunkSize)
}

// fits returns an error if there are no addresses for so many chunks.
func (m *mapped) fits(chunks int64) error {
	if chunks*ChunkSize > m.size {
		return fmt.Errorf("%s: %d bytes of addresses: %w", m.name, m.size, ErrNoSpace)
	}
	return nil
}

func (m *mapped) detach(idx, n int64) error {
	off, size := idx*ChunkSize, n*ChunkSize
	return m.r.Vacate(m.nowhere, off, size, true)
}

func (m *mapped) populate(off, n int64) error {
	err := retry(func() error { return m.r.Populate(off, n) })
	if err == unix.EINVAL {
		// Before Linux 5.14 the only way to fault pages in is to store into them, which is unsafe
		// while others write: the blocks are allocated, so workers take the faults.
		m.cold.Add(n / int64(os.Getpagesize()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("preparing %d bytes at %d in %s: %w", n, off, m.name, err)
	}
	return nil
}
