package gowire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Generation is a part of a trace that can be read alone.
type Generation struct {
	Version int
	Data    []byte // the header, and the generation
	Number  uint64 // as the batches have it
	// Cut is why it ends before its end; nil where it does not. io.ErrUnexpectedEOF: the
	// trace ends there.
	Cut error
}

// MaxGeneration bounds the bytes of one generation. The busiest programs write a tenth.
const MaxGeneration = 256 << 20

// ErrLong says that a generation has more than MaxGeneration.
var ErrLong = fmt.Errorf("a generation of it has more than %d MiB", MaxGeneration>>20)

// Cutter cuts a trace into its generations.
type Cutter struct {
	in      *bufio.Reader
	head    [HeaderSize]byte
	version int
	room    int   // what the next generation may have
	err     error // what ends it
}

// NewCutter reads the header. Its errors are sentences about the trace; io.EOF: it is empty.
func NewCutter(in io.Reader) (*Cutter, error) {
	c := &Cutter{room: 1 << 16, in: bufio.NewReaderSize(in, 2*maxBatch)}
	n, err := io.ReadFull(c.in, c.head[:])
	if err != nil && err != io.ErrUnexpectedEOF {
		return c, err
	}
	c.version, err = Version(c.head[:n])
	return c, err
}

// Head is the header.
func (c *Cutter) Head() []byte { return c.head[:] }

// Version is which Go 1 the trace is of.
func (c *Cutter) Version() int { return c.version }

// Next returns the next generation. The error is io.EOF at the end, or one of reading.
func (c *Cutter) Next() (*Generation, error) {
	if c.err != nil {
		return nil, c.err
	}
	g := &Generation{Version: c.version, Data: append(make([]byte, 0, c.room), c.head[:]...)}
	for {
		b, bytes, err := c.batch()
		switch {
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errBatch):
			c.err = err
			return nil, err
		case err == io.EOF && len(bytes) == 0 && len(g.Data) == HeaderSize:
			c.err = io.EOF
			return nil, io.EOF
		case err != nil: // who decodes it will tell why
			if c.err, g.Cut = io.EOF, err; err == io.EOF {
				g.Cut = io.ErrUnexpectedEOF
				if len(bytes) == 0 && c.version < endsTold {
					g.Cut = nil
				}
			}
			g.Data = append(g.Data, bytes...)
			return g, nil
		}
		if g.Number == 0 {
			g.Number = b.Generation
		}
		if b.Generation != g.Number && c.version < endsTold {
			return g, nil // the next one begins
		}
		if len(g.Data)+len(bytes) > MaxGeneration {
			c.err, g.Cut = io.EOF, ErrLong
			return g, nil
		}
		g.Data = append(g.Data, bytes...)
		if _, err := c.in.Discard(len(bytes)); err != nil {
			return nil, err
		}
		if b.End {
			c.room = len(g.Data) + len(g.Data)/4
			return g, nil
		}
	}
}

// endsTold is the version from which on a generation's end is told.
const endsTold = 26

// batch looks at the next batch. With an error it returns what there is instead of one.
func (c *Cutter) batch() (x Batch, bytes []byte, err error) {
	for want := max(c.in.Buffered(), 1); ; want = min(max(2*want, 1<<16), c.in.Size()) {
		b, short := c.in.Peek(want)
		x, size, bad := Next(b)
		switch {
		case bad != nil:
			return x, b[:min(len(b), 64)], fmt.Errorf("%w: %w", errBatch, bad)
		case size > 0:
			return x, b[:size], nil
		case short != nil:
			return x, b, short
		}
	}
}

var errBatch = errors.New("it can't be decoded")
