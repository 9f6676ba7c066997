package pool

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// # Rings in memory
//
// Where the file is a copy, a ring's writers never wait for the disk. A reused place still has its
// old chunk in the file: it is stale. The new chunk lies in memory, and the copier wipes the place
// before it writes the chunk. If no place, or no memory, is free, the oldest chunks that are full
// and in no file are evicted: they count as overwritten, as if they had been in the file. So a ring
// holds its newest chunks, in memory or in the file, for as long as the disk accepts nothing.
//
//  1. A place becomes stale when its chunk is counted as overwritten. The copier writes to a
//     stale place only after it has written chunk 0, which has the count, and has zeroed the
//     place, its header first. Otherwise the file could have the header of one chunk over the
//     records of another.
//  2. With each write of chunk 0 the copier wipes the places that were stale before it loaded
//     chunk 0. Otherwise the file, without what is in memory, would have chunks that it counts
//     as overwritten, and their records would count twice. A kill between that write and the
//     wipes leaves up to a ring of those: too many count as overwritten, never too few.
//  3. The copier loads a chunk under the lock under which it is evicted, and then checks that
//     the number still belongs to the place. It holds no lock that eviction takes while it
//     waits for the disk. If it writes a loaded chunk that has been evicted since, the copy
//     lands in a place that is stale by then, and is wiped. Otherwise eviction would wait for
//     the disk, or an evicted chunk would come back.
//  4. A chunk that is being dropped, which includes writing it, is not evicted: the flusher
//     drops few at once. Otherwise its memory would go while its write goes on.
//  5. In the hot file an evicted chunk's slot is zeroed and stays assigned to its place until
//     the place has its next chunk. Otherwise a reader would find in the file the chunk that
//     was overwritten there a lap earlier. A ring with lots of several places (512 MiB and
//     more) and one whose memory limit has shrunk free the slot instead: for some microseconds
//     a reader may find that chunk.

// overwriting holds what a copier knows of a ring's places.
type overwriting struct {
	place  func(idx int64) int64            // a chunk's place, -1: it has none any more; nil: chunks are used once
	settle func(at int64) error             // wipeStale, in a ring
	create func(at int64) (*os.File, error) // for segments: see creates
	erase  func(at int64) error             // zeroes a place of the file, its header first
	stale  map[int64]struct{}               // places with an overwritten chunk in the file; under c.mu
	inUse  []uint64                         // a bit by place: the file may have data there
	head   []byte                           // chunk 0
	one    bool                             // places are reused one by one
}

// follow makes the copier serve a ring. place returns a chunk's place, one means that each place is
// reused by itself, and create creates the file of a place that has none; nil: all have one.
func (c *copier) follow(place func(idx int64) int64, one bool, create createFile) {
	if create != nil {
		c.create = func(at int64) (*os.File, error) { return create(at, c.writeCounts) }
	}
	c.place, c.stale, c.one, c.settle = place, map[int64]struct{}{}, one, c.wipeStale
}

// wipe marks the n places from at on as overwritten.
func (c *copier) wipe(at, n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		c.stale[at+i] = struct{}{}
	}
	return nil
}

// isStale reports whether the file's contents at a place are overwritten.
func (c *copier) isStale(at int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, stale := c.stale[at]
	return stale
}

// has notes that the file may have data at a place.
func (c *copier) has(at int64) {
	if at > 0 {
		for int64(len(c.inUse)) <= at/64 {
			c.inUse = append(c.inUse, 0)
		}
		c.inUse[at/64] |= 1 << (at % 64)
	}
}

// wipeStale runs before something is written at a place: if the place is stale, or is chunk 0, it
// wipes all stale places, after the file has the count of them.
func (c *copier) wipeStale(at int64) error {
	c.mu.Lock()
	if _, stale := c.stale[at]; !stale && (at != 0 || len(c.stale) == 0) {
		c.mu.Unlock()
		return nil
	}
	var stale []int64
	for at := range c.stale {
		stale = append(stale, at)
	}
	clear(c.stale)
	c.mu.Unlock()
	err := c.writeCounts()
	for len(stale) > 0 && err == nil {
		at := stale[0]
		delete(c.last, at)
		if at/64 < int64(len(c.inUse)) && c.inUse[at/64]&(1<<(at%64)) != 0 {
			if err = c.erase(at); err != nil {
				break
			}
			c.inUse[at/64] &^= 1 << (at % 64)
			testpoint.Here("pool.wiped")
		}
		stale = stale[1:]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range stale {
		c.stale[at] = struct{}{}
	}
	return err
}

// writeCounts writes the count of overwritten chunks to the file; the closed flag is written later.
func (c *copier) writeCounts() error {
	if c.head == nil {
		c.head = sys.OffHeap[byte](c, ChunkSize)
	}
	if !c.load(c.head, 0, 0) {
		return nil
	}
	const closed = format.StateOffset + format.StateClosed
	binary.LittleEndian.PutUint64(c.head[closed:], 0)
	return c.parts(c.head, false)
}

// evicted forgets a chunk that is in no file, and marks its place as stale.
func (c *copier) evicted(idx, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale[at] = struct{}{}
	c.noBlocks(idx)
}

// eraseIn returns a function that zeroes a place by calling wipe on its file.
func (c *copier) eraseIn(wipe func(f *os.File, off int64) error) func(at int64) error {
	return func(at int64) error {
		f, off := c.to.at(at)
		if f == nil {
			return nil // its file was deleted, and the place with it
		}
		err := wipe(f, off)
		if err != nil {
			err = fmt.Errorf("overwriting %s: %w", f.Name(), err)
			c.fail.Store(&err)
		}
		return err
	}
}
