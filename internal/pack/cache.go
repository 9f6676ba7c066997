package pack

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// cache holds the groups that were unpacked last.
type cache struct {
	r    *Reader
	room int64         // most bytes of groups that it keeps
	lost []atomic.Bool // by group: it can't be unpacked

	mu     sync.Mutex
	groups map[int]*unpacked
	free   [][]byte
	bytes  int64
	now    int64 // counts the uses
	ahead  sync.WaitGroup
	closed bool
}

// unpacked is a group that is, or is being, unpacked.
type unpacked struct {
	data  []byte
	err   error
	ready chan struct{}
	uses  int   // present readers
	used  int64 // time of the last use, by now
}

func (c *cache) init(r *Reader) {
	c.r = r
	c.room = max(64<<20, 4*groupBytes*int64(runtime.GOMAXPROCS(0)))
	c.lost = make([]atomic.Bool, len(r.layout.groups))
	c.groups = map[int]*unpacked{}
}

// get returns the group, which the caller releases. For a caller that reads one group after the
// other it unpacks the next ones ahead, up to the number of processors at once.
func (c *cache) get(i int) (*unpacked, error) {
	c.mu.Lock()
	g, mine := c.take(i)
	if mine && c.groups[i-1] != nil {
		for next := i + 1; next < i+runtime.GOMAXPROCS(0) && next < len(c.lost); next++ {
			if c.groups[next] == nil && !c.closed {
				h, _ := c.take(next)
				c.ahead.Go(func() {
					c.fill(next, h)
					c.release(h)
				})
			}
		}
	}
	c.mu.Unlock()
	if mine {
		c.fill(i, g)
	}
	<-g.ready
	if g.err != nil {
		c.release(g)
		return nil, g.err
	}
	return g, nil
}

// take returns the group, and adds it if it is missing; mine means that the caller must fill it.
// c.mu is held.
func (c *cache) take(i int) (g *unpacked, mine bool) {
	c.now++
	if g = c.groups[i]; g == nil {
		mine = true
		size := int64(c.r.layout.groups[i].count) * c.r.layout.chunk
		g = &unpacked{ready: make(chan struct{}), data: c.buffer(size)}
		c.groups[i] = g
	}
	g.uses++
	g.used = c.now
	return g, mine
}

// buffer returns room for a group, from the least recently used ones if the cache is full.
func (c *cache) buffer(size int64) []byte {
	for c.bytes+size > c.room {
		oldest := -1
		for i, g := range c.groups {
			if g.uses == 0 && (oldest < 0 || g.used < c.groups[oldest].used) {
				oldest = i
			}
		}
		if oldest < 0 {
			break // all are being read
		}
		g := c.groups[oldest]
		delete(c.groups, oldest)
		c.bytes -= int64(len(g.data))
		c.free = append(c.free, g.data)
	}
	c.bytes += size
	for i, b := range c.free {
		if int64(cap(b)) >= size {
			c.free = append(c.free[:i], c.free[i+1:]...)
			return b[:size]
		}
	}
	c.free = nil // they are of another size
	return make([]byte, size)
}

// fill unpacks the group.
func (c *cache) fill(i int, g *unpacked) {
	defer close(g.ready)
	if !c.lost[i].Load() {
		lost, err := c.r.unpack(i, g.data)
		if err != nil { // the next read may succeed
			g.err = err
			c.mu.Lock()
			delete(c.groups, i)
			c.bytes -= int64(len(g.data))
			c.mu.Unlock()
			return
		}
		if lost == nil {
			return
		}
		c.lost[i].Store(true)
	}
	size := int(c.r.layout.chunk)
	clear(g.data)
	for at := 0; at < len(g.data); at += size {
		format.PutLostChunk(g.data[at:])
	}
}

func (c *cache) release(g *unpacked) {
	c.mu.Lock()
	g.uses--
	c.mu.Unlock()
}

func (c *cache) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.ahead.Wait()
}
