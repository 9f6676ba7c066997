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
// Where the file is a copy, nothing that a ring does for its writers waits for the disk. A
// place that is used again still has its old chunk in the file: it is stale. The new chunk
// lies in memory, and whoever copies it wipes the place first. Where no place is free, or no
// memory, the oldest chunks that are full and in no file are evicted: they count as
// overwritten, as if they had been in the file. So a ring holds its newest chunks, in memory
// or in the file, for as long as the disk takes nothing.
//
//  1. A place is stale from the moment on that its chunk counts as overwritten. The copier
//     writes to a stale place only after it has written chunk 0, which tells the count, and
//     has zeroed the place, its header first. Otherwise the file could have the header of one
//     chunk over the records of another.
//  2. With each writing of chunk 0 the copier wipes what was stale before it loaded chunk 0.
//     Otherwise the file, without what is in memory, would have chunks that it counts as
//     overwritten, and their records would count twice. Between that writing and the wipes a
//     kill leaves up to a ring of those: too many count as overwritten, never too few.
//  3. The copier loads a chunk under the lock under which it is evicted, and then looks
//     whether the number is still that of the place. It holds no lock that eviction takes
//     while it waits for the disk. What it has loaded and writes when the chunk has been
//     evicted lands in a place that is stale by then, and is wiped. Otherwise eviction would
//     wait for the disk, or an evicted chunk would come back.
//  4. A chunk that is being dropped, which takes writing it, is not evicted: the flusher drops
//     few at once. Otherwise its memory would go while its write goes on.
//  5. In the hot file an evicted chunk's slot is zeroed and stays that of its place, until the
//     next chunk of the place is there. Otherwise a reader would find in the file the chunk
//     that was overwritten there a lap earlier. A ring of lots of several places (512 MiB and
//     more) and one whose memory limit has shrunk give the slot back instead: for some
//     microseconds a reader may find that chunk.

// overwriting is what a copier knows of a ring's places.
type overwriting struct {
	place  func(idx int64) int64            // where a chunk is, -1: not any more; nil: chunks are used once
	settle func(at int64) error             // wipeStale, in a ring
	create func(at int64) (*os.File, error) // for segments: see creates
	erase  func(at int64) error             // zeroes a place of the file, its header first
	stale  map[int64]struct{}               // places that have an overwritten chunk in the file; c.mu is held
	inUse  []uint64                         // a bit by place: the file may have something there
	head   []byte                           // chunk 0
	one    bool                             // places are used again one by one
}

// follow has the copier serve a ring. place returns a chunk's place, one says that each place is
// used again by itself, and create makes the file of a place that has none; nil: all have one.
func (c *copier) follow(place func(idx int64) int64, one bool, create creates) {
	if create != nil {
		c.create = func(at int64) (*os.File, error) { return create(at, c.tell) }
	}
	c.place, c.stale, c.one, c.settle = place, map[int64]struct{}{}, one, c.wipeStale
}

// wipe says that what is in n places from at on is overwritten.
func (c *copier) wipe(at, n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		c.stale[at+i] = struct{}{}
	}
	return nil
}

// isStale reports whether what the file has at a place is overwritten.
func (c *copier) isStale(at int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, stale := c.stale[at]
	return stale
}

// has notes that the file may have something at a place.
func (c *copier) has(at int64) {
	if at > 0 {
		for int64(len(c.inUse)) <= at/64 {
			c.inUse = append(c.inUse, 0)
		}
		c.inUse[at/64] |= 1 << (at % 64)
	}
}

// wipeStale is called before something is written at a place: if what is there is overwritten,
// or if it is chunk 0, all that is overwritten is wiped. The file tells of that before.
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
	err := c.tell()
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

// tell has the file say how much is overwritten; that it is closed comes later.
func (c *copier) tell() error {
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

// evicted forgets a chunk that is in no file, and says that its place has nothing to be read.
func (c *copier) evicted(idx, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale[at] = struct{}{}
	c.noBlocks(idx)
}

// eraseIn returns what zeroes a place by one of the functions that do so in a file.
func (c *copier) eraseIn(wipe func(f *os.File, off int64) error) func(at int64) error {
	return func(at int64) error {
		f, off := c.to.at(at)
		if f == nil {
			return nil // its file is gone, and it with it
		}
		err := wipe(f, off)
		if err != nil {
			err = fmt.Errorf("overwriting %s: %w", f.Name(), err)
			c.fail.Store(&err)
		}
		return err
	}
}
