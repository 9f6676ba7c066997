package gotrace

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/gowire"
)

// flow delivers the items of a stream, generation by generation. Several generations are
// decoded ahead at a time, each as if it were the first; reader determines which of their state
// is new.
type flow struct {
	cut    *gowire.Cutter
	most   int          // maximum number of generations decoded at a time
	busy   atomic.Int32 // number of generations being decoded
	ahead  []*pending
	bytes  int64 // of the generations in ahead
	more   bool  // cut may have another generation
	broken error // error of reading the stream
	done   chan struct{}

	stacks *stackTable
	clock  *clock
	part   *part
	at     int      // in part
	byID   []uint32 // stacks of the generation by id, as numbered in the table
	texts  []string // of the generation
	number int      // number, from 1 on, of the generation of part
	failed int      // number, from 1 on, of the generation for which next returned an error
	begun  int      // number of generations whose decoding has begun
	rough  int64
}

// pending is a generation that is being decoded.
type pending struct {
	number int
	bytes  int64
	parts  chan *part
	rough  int64 // valid once parts is closed
	err    error // likewise
}

// Limits of decoding ahead: generations (the items of one are consumed by one goroutine), their
// bytes, and the parts of all of them. Decoding a generation takes five times its bytes, and
// occupies two processors.
const (
	maxAhead      = 4
	maxAheadBytes = 256 << 20
	maxParts      = 4096
)

// open begins to read a stream, decoding at most most generations at a time. The error is a
// sentence about the stream.
func open(in io.Reader, stacks *stackTable, c *clock, most int) (*flow, error) {
	f := &flow{most: min(most, max(runtime.GOMAXPROCS(0)/2, 1)), more: true, done: make(chan struct{}), stacks: stacks, clock: c}
	var err error
	f.cut, err = gowire.NewCutter(in)
	switch {
	case err == io.EOF:
		return f, errEmpty
	case err == nil && f.cut.Version() < clocksSince && !c.alone && !c.made:
		return f, tooOld(f.cut.Version())
	case err != nil && !gowire.IsSentence(err):
		f.broken = err
	}
	return f, err
}

// close ends the reading. The stream is not read after that.
func (f *flow) close() { close(f.done) }

// fill starts to decode further generations, up to the limits.
func (f *flow) fill() {
	for f.more && int(f.busy.Load()) < f.most && len(f.ahead) < maxAhead && (len(f.ahead) == 0 || f.bytes < maxAheadBytes) {
		g, err := f.cut.Next()
		if err != nil {
			if f.more = false; err != io.EOF {
				f.broken = err
			}
			return
		}
		f.begun++
		p := &pending{number: f.begun, bytes: g.Size(), parts: make(chan *part, min(maxParts/maxAhead, 4+g.Size()/partSize))}
		f.ahead, f.bytes = append(f.ahead, p), f.bytes+p.bytes
		f.busy.Add(1)
		go func() {
			defer close(p.parts)
			defer f.busy.Add(-1)
			defer g.Free()
			if g.Cut == gowire.ErrLong {
				p.err = g.Cut
				return
			}
			p.rough, p.err = decode(g, func(x *part) bool {
				select {
				case p.parts <- x:
					return true
				case <-f.done:
					return false
				}
			})
			if p.err != nil && g.Cut == io.ErrUnexpectedEOF { // whatever the decoder found missing first
				p.err = g.Cut
			}
		}()
	}
}

// next returns the next item by time. An item of kind EventSync begins a generation. The error
// io.EOF marks the end of the stream; any other error concerns one generation, and next
// continues with the following one.
func (f *flow) next(it *item) error {
	for f.part == nil || f.at == len(f.part.items) {
		if f.part != nil {
			f.part.free()
			f.part = nil
		}
		if f.fill(); len(f.ahead) == 0 {
			if f.broken != nil {
				return f.broken
			}
			return io.EOF
		}
		p := f.ahead[0]
		x, ok := <-p.parts
		if !ok {
			f.ahead, f.bytes = f.ahead[1:], f.bytes-p.bytes
			if f.rough += p.rough; p.err != nil {
				f.failed = p.number
				return p.err
			}
			continue
		}
		f.number = p.number
		f.take(x)
	}
	*it = f.part.items[f.at]
	f.at++
	it.time += f.clock.off
	it.stack, it.byStack = f.byID[it.stack], f.byID[it.byStack]
	return nil
}

// goesOn reports whether there is a generation after the one that next has returned last.
func (f *flow) goesOn() bool {
	f.fill()
	return len(f.ahead) > 0
}

// take begins to deliver a part.
func (f *flow) take(x *part) {
	f.part, f.at = x, 0
	if x.first {
		f.byID, f.texts = append(f.byID[:0], 0), append(f.texts[:0], "")
		if x.clock != nil {
			f.clock.sync(x.clock)
		} else {
			f.clock.first(x.begins)
		}
	}
	for _, s := range x.stacks {
		f.byID = append(f.byID, f.stacks.id(s))
	}
	for _, t := range x.texts {
		f.texts = append(f.texts, f.stacks.intern(t))
	}
}

var parts = sync.Pool{New: func() any { return &part{} }}

func newPart() *part {
	p := parts.Get().(*part)
	return p
}

// free returns a part to the pool.
func (p *part) free() {
	clear(p.stacks)
	clear(p.texts)
	*p = part{items: p.items[:0], stacks: p.stacks[:0], texts: p.texts[:0]}
	parts.Put(p)
}

func tooOld(version int) error {
	return fmt.Errorf("it is of Go 1.%d; traces of Go before 1.%d lack clock snapshots", version, clocksSince)
}
