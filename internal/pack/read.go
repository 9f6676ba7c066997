package pack

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
)

func init() { hot.UsePacked(open) }

// Reader reads the trace in a packed file. Its methods may be called from several goroutines.
type Reader struct {
	f      io.ReaderAt
	name   string
	layout *layout
	first  []byte // the chunk at 0
	dec    *zstd.Decoder
	coders sync.Pool
	cache  cache
}

// open is Open for package hot.
func open(f *os.File) (*hot.Unpacked, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := Open(f, st.Size(), f.Name())
	if err != nil {
		return nil, err
	}
	return &hot.Unpacked{ReaderAt: r, Size: r.layout.size, Missing: r.layout.missing, NextData: r.NextData, Lost: r.Lost, Close: r.Close}, nil
}

// Open opens the packed file f of size bytes, with that name. A missing end counts as damage:
// errors concern only the beginning, and wrap format.ErrCorrupt or format.ErrNewer.
func Open(f io.ReaderAt, size int64, name string) (*Reader, error) {
	r := &Reader{f: f, name: name}
	var err error
	if r.dec, err = newDecoder(); err != nil {
		return nil, err
	}
	at := int64(0)
	r.layout, err = readHead(func(n int64) ([]byte, error) {
		if n > size-at {
			return nil, fmt.Errorf("%w: it is truncated after %d bytes, within its directory", format.ErrCorrupt, size)
		}
		b := make([]byte, n)
		if _, err := f.ReadAt(b, at); err != nil && !(err == io.EOF && n == 0) {
			return nil, err
		}
		at += n
		return b, nil
	}, r.dec)
	if err != nil {
		r.dec.Close()
		return nil, fmt.Errorf("%s: reading the packed trace: %w", name, err)
	}
	r.cache.init(r)
	for i := range r.layout.groups {
		if g := &r.layout.groups[i]; g.offset+int64(g.packed) > size {
			r.cache.lost[i].Store(true)
		}
	}
	g, err := r.cache.get(0)
	if err == nil && r.cache.lost[0].Load() {
		err = fmt.Errorf("%w: the trace's header is damaged", format.ErrCorrupt)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: reading the packed trace: %w", name, err)
	}
	r.first = append([]byte(nil), g.data...)
	r.cache.release(g)
	return r, nil
}

// Lost returns how many chunks could not be unpacked so far.
func (r *Reader) Lost() (n int64) {
	for i := range r.cache.lost {
		if r.cache.lost[i].Load() {
			n += int64(r.layout.groups[i].count)
		}
	}
	return n
}

// Close frees the reader's memory; no method may be called from then on.
func (r *Reader) Close() {
	r.cache.close()
	r.dec.Close()
}

// Size returns the size of the trace in bytes.
func (r *Reader) Size() int64 { return r.layout.size }

// ReadAt reads the trace. A chunk that can't be unpacked reads as a chunk marked as lost, which
// readers of traces skip and count.
func (r *Reader) ReadAt(b []byte, off int64) (n int, err error) {
	l := r.layout
	if off < 0 {
		return 0, errors.New("negative offset")
	}
	for n < len(b) {
		at := off + int64(n)
		if at >= l.size {
			return n, io.EOF
		}
		in := at % l.chunk
		to := b[n:][:min(int64(len(b)-n), l.chunk-in, l.size-at)]
		if err := r.readChunk(to, at/l.chunk, int(in)); err != nil {
			return n, err
		}
		n += len(to)
	}
	return n, nil
}

// readChunk reads from byte in of the chunk at the place.
func (r *Reader) readChunk(to []byte, place int64, in int) error {
	if place == 0 {
		copy(to, r.first[in:])
		return nil
	}
	c, ok := r.layout.find(place)
	if !ok {
		clear(to)
		return nil
	}
	if in+len(to) <= format.ChunkHeaderSize && !r.cache.lost[c.group].Load() {
		copy(to, r.layout.head(c.number)[in:])
		return nil
	}
	g, err := r.cache.get(c.group)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	copy(to, g.data[(c.number-r.layout.groups[c.group].first)*int(r.layout.chunk)+in:])
	r.cache.release(g)
	return nil
}

// NextData returns the offset of the next chunk at or behind off that may have bytes other than
// zero.
func (r *Reader) NextData(off int64) int64 {
	place := off / r.layout.chunk
	i, ok := r.layout.search(place)
	switch {
	case ok:
		return off
	case i < len(r.layout.places):
		return r.layout.places[i].place * r.layout.chunk
	}
	return math.MaxInt64
}

// unpack fills to with the chunks of the group. lost is why they can't be unpacked, err why they
// can't be read.
func (r *Reader) unpack(i int, to []byte) (lost, err error) {
	l := r.layout
	g := &l.groups[i]
	c, _ := r.coders.Get().(*coder)
	if c == nil {
		c = newCoder(nil, r.dec)
	}
	defer r.coders.Put(c)
	packed := grow(&c.raw, int(g.packed))
	if _, err := r.f.ReadAt(packed, g.offset); err != nil && err != io.EOF {
		return nil, err
	} else if crc32.Checksum(packed, castagnoli) != g.crc {
		return fmt.Errorf("%w: a group's checksum is wrong", format.ErrCorrupt), nil
	}
	for n := range g.count {
		copy(to[n*int(l.chunk):], l.head(g.first+n))
	}
	return c.into(to, int(l.chunk), packed), nil
}
