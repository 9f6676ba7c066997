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

// addresses is the process's range: every recording maps its file into it, but one that needs
// more. What was used of the range before stays, so that no stale address is ever anyone's.
var addresses struct {
	sync.Mutex
	r    *sys.Range
	busy bool
}

// memfdCreate is replaced by a test: one that a sandbox refuses.
var memfdCreate = unix.MemfdCreate

// mapped is what backings share whose chunks are mapped: the chunk n lies n × 64
// KiB behind the range's base.
type mapped struct {
	name string
	r    *sys.Range
	size int64         // bytes of it that are ours
	cold *atomic.Int64 // see Pool.unprepared

	// What detached addresses lead to, -1 if there is none. It is as long as all
	// addresses and has no pages, so that neighbours are one mapping, and nothing
	// is charged to a system that does not overcommit.
	nowhere int
	apart   bool
	late    bool // stores may come when nobody waits for them any more: the Go path's
}

// newApart has addresses of its own, which close gives back.
func newApart(p *Pool, limit int64) (*mapped, error) {
	r, err := sys.NewRange(limit)
	if err != nil {
		return nil, err
	}
	p.addresses = r
	return &mapped{name: p.file.f.Name(), r: r, size: limit, cold: &p.unprepared, nowhere: -1, apart: true}, nil
}

// newMapped takes the range; detaches reports whether chunks will leave it one by one.
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

// fewAddresses is the smallest range that is tried: a processor may have few addresses at all,
// an emulator fewer.
const fewAddresses = 1 << 30

// reserve has the range be of so many bytes, or of fewer where no more can be had. What was used
// of one that is too short is left behind, so it is as long as can be.
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

// release leaves addresses that lead nowhere where the chunks were: a goroutine that is late
// by a recording reads nothing there, and one of the Go path, whose stores nobody can wait
// for, harms nobody. Where that is refused the file stays mapped, which is harmless too.
func (m *mapped) release() error {
	if m.apart {
		return m.r.Free()
	}
	// Chunk 0 is writable at every moment: somebody may be about to count a loss there.
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

// fits refuses chunks that there are no addresses for.
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
		// Before Linux 5.14 there is no way to fault pages in but to store
		// into them, which must not be done behind a writer's back: the
		// blocks are allocated, so workers take the faults, and live.
		m.cold.Add(n / int64(os.Getpagesize()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("preparing %d bytes at %d in %s: %w", n, off, m.name, err)
	}
	return nil
}
