package gowire

import (
	"errors"
	"fmt"
	"io"
)

// ErrLong reports that a generation has more than maxGeneration bytes.
var ErrLong = fmt.Errorf("a generation of it has more than %d MiB", maxGeneration>>20)

// Cutter cuts a trace into its generations.
type Cutter struct {
	in      io.Reader
	buf     []byte // read and not consumed
	full    []byte // the memory of buf
	head    [HeaderSize]byte
	version int
	err     error // after this error there are no more generations
}

// Sizes of reads. Memory is allocated as needed, because a trace may have many small
// streams.
const (
	leastRead = 4 << 10
	mostRead  = 128 << 10
)

// NewCutter reads the header. Its errors are sentences about the trace, or io.EOF if it is
// empty.
func NewCutter(in io.Reader) (*Cutter, error) {
	c := &Cutter{in: in}
	n, err := io.ReadFull(c.in, c.head[:])
	if err != nil && err != io.ErrUnexpectedEOF {
		return c, err
	}
	c.version, err = Version(c.head[:n])
	return c, err
}

// peek returns the bytes available, at least want unless there is an error.
func (c *Cutter) peek(want int) ([]byte, error) {
	for len(c.buf) < want {
		if room := cap(c.full); len(c.buf) == room || want > room {
			grown := max(want, min(2*room, mostRead), leastRead)
			if grown > room {
				c.full = append(make([]byte, 0, grown), c.buf...)
				c.buf = c.full
			}
		}
		c.full = c.full[:cap(c.full)]
		n := copy(c.full, c.buf)
		k, err := c.in.Read(c.full[n:])
		c.buf = c.full[:n+k]
		if err != nil && len(c.buf) < want {
			return c.buf, err
		}
	}
	return c.buf, nil
}

// Head returns the header.
func (c *Cutter) Head() []byte { return c.head[:] }

// Version returns the version of Go 1 of the trace.
func (c *Cutter) Version() int { return c.version }

// Next returns the next generation. The error is io.EOF at the end, or an error of reading.
func (c *Cutter) Next() (*Generation, error) {
	if c.err != nil {
		return nil, c.err
	}
	g := &Generation{Version: c.version, head: c.head}
	for {
		b, bytes, err := c.batch()
		switch {
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errBatch):
			c.err = err
			return nil, err
		case err == io.EOF && len(bytes) == 0 && g.size == 0:
			c.err = io.EOF
			return nil, io.EOF
		case err != nil: // the decoder of the generation will report why
			if c.err, g.Cut = io.EOF, err; err == io.EOF {
				g.Cut = io.ErrUnexpectedEOF
				if len(bytes) == 0 && c.version < firstWithEndMarks {
					g.Cut = nil
				}
			}
			g.add(bytes)
			c.buf = c.buf[len(bytes):]
			return g, nil
		}
		if g.Number == 0 {
			g.Number = b.Generation
		}
		if b.Generation != g.Number && c.version < firstWithEndMarks {
			return g, nil // the next generation begins
		}
		if HeaderSize+g.size+len(bytes) > maxGeneration {
			c.err, g.Cut = io.EOF, ErrLong
			return g, nil
		}
		g.add(bytes)
		c.buf = c.buf[len(bytes):]
		if b.End {
			return g, nil
		}
	}
}

// Rest reads the bytes after the last generation, and returns their number.
func (c *Cutter) Rest() (int64, error) {
	n, err := io.Copy(io.Discard, c.in)
	if err == io.ErrUnexpectedEOF { // the reader that contains the trace ends too early
		err = nil
	}
	return int64(len(c.buf)) + n, err
}

// firstWithEndMarks is the first version that marks the end of a generation.
const firstWithEndMarks = 26

// batch returns the next batch without consuming it. With an error it returns the bytes
// there are.
func (c *Cutter) batch() (x Batch, bytes []byte, err error) {
	for want := max(len(c.buf), 1); ; want = min(max(2*want, 1<<10), 2*maxBatch) {
		b, short := c.peek(want)
		x, size, bad := Next(b)
		switch {
		case bad != nil:
			return x, b[:min(len(b), 64)], fmt.Errorf("%w: %w", errBatch, bad)
		case size > 0:
			return x, b[:size], nil
		case short == io.ErrUnexpectedEOF: // the reader that contains the trace ends too early
			return x, b, io.EOF
		case short != nil:
			return x, b, short
		}
	}
}

var errBatch = errors.New("it can't be decoded")
