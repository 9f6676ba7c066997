package gotrace

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/gowire"
)

// flow delivers the items of a stream, generation by generation. Generations are decoded ahead,
// several at a time: each is told as if it were the first, and whoever takes them finds out
// what is new.
type flow struct {
	cut    *gowire.Cutter
	most   int          // generations that are decoded at a time
	busy   atomic.Int32 // so many are
	ahead  []*pending
	bytes  int64 // of those
	more   bool  // cut may have one
	broken error // reading the stream failed
	done   chan struct{}

	stacks *stackTable
	clock  *clock
	part   *part
	at     int      // in part
	byID   []uint32 // stacks of the generation, as the table has them
	texts  []string // of the generation
	failed int      // the number of the generation of which next has returned an error, from 1 on
	begun  int      // generations that were begun to be decoded
	rough  int64
}

// pending is a generation that is being decoded.
type pending struct {
	number int
	bytes  int64
	parts  chan *part
	rough  int64 // once parts is closed
	err    error // likewise
}

// What is decoded ahead, at most: generations, as one goroutine takes what they tell, their
// bytes, and parts of all of them. One that is being decoded takes five times its bytes, and
// keeps two processors busy.
const (
	maxAhead      = 4
	maxAheadBytes = 256 << 20
	maxParts      = 4096
)

// open begins to read a stream, with so many goroutines at the most. The error is a sentence
// about the stream.
func open(in io.Reader, stacks *stackTable, c *clock, most int) (*flow, error) {
	f := &flow{most: min(most, max(runtime.GOMAXPROCS(0)/2, 1)), more: true, done: make(chan struct{}), stacks: stacks, clock: c}
	var err error
	f.cut, err = gowire.NewCutter(in)
	switch {
	case err == io.EOF:
		return f, errEmpty
	case err == nil && f.cut.Version() < clocksTold && !c.alone && !c.made:
		return f, tooOld(f.cut.Version())
	case err != nil && !gowire.IsSentence(err):
		f.broken = err
	}
	return f, err
}

// close ends the reading. Nothing reads the stream any more.
func (f *flow) close() { close(f.done) }

// fill has more generations decoded.
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
			if p.err != nil && g.Cut == io.ErrUnexpectedEOF { // whatever the decoder missed first
				p.err = g.Cut
			}
		}()
	}
}

// next is the next item by time. The item's kind is EventSync where a generation begins.
// io.EOF is the end; another error is of a generation, and next goes on with the one after it.
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
		f.take(x)
	}
	*it = f.part.items[f.at]
	f.at++
	it.time += f.clock.off
	it.stack, it.byStack = f.byID[it.stack], f.byID[it.byStack]
	return nil
}

// goesOn reports whether there is a generation behind the one that next has told of.
func (f *flow) goesOn() bool {
	f.fill()
	return len(f.ahead) > 0
}

// take takes a part.
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

// free gives a part back.
func (p *part) free() {
	clear(p.stacks)
	clear(p.texts)
	*p = part{items: p.items[:0], stacks: p.stacks[:0], texts: p.texts[:0]}
	parts.Put(p)
}

func tooOld(version int) error {
	return fmt.Errorf("it is of Go 1.%d, and of those before 1.%d the clock is not known", version, clocksTold)
}
