package pack

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"

	"github.com/klauspost/compress/zstd"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/inorder"
)

// Source is a trace to be packed; it must not change.
type Source struct {
	R       io.ReaderAt
	Size    int64
	Missing int64 // segments that it lacks
}

// Result describes what Write has packed.
type Result struct {
	Size   int64 // of the trace
	Packed int64
	Scopes int64 // scopes in records, as far as the model coded them
	Plain  int64 // groups of records packed as bytes, because of a defect of the model
}

// writer writes a packed file.
type writer struct {
	src     Source
	layout  layout
	places  []int64
	records int // the number of the first chunk of records
	enc     *zstd.Encoder
	dec     *zstd.Decoder
}

// Write packs the trace to w, which must be empty. progress, if not nil, is called with the number
// of chunks packed. Memory is bounded by the number of processors, and about 100 bytes for each
// chunk.
func Write(ctx context.Context, w io.WriterAt, src Source, progress func(done, of int64)) (res Result, err error) {
	x := &writer{src: src}
	if x.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0))); err != nil {
		return res, err
	}
	if x.dec, err = newDecoder(); err != nil {
		return res, err
	}
	defer x.dec.Close()
	if err := x.plan(ctx); err != nil {
		return res, err
	}
	raw := x.layout.appendDirectory(nil, x.places)
	directory := x.enc.EncodeAll(raw, nil)
	if int64(len(raw)) > math.MaxUint32 {
		return res, fmt.Errorf("the trace has too many chunks to pack: %d", len(x.places))
	}
	head := x.layout.appendHead(directory, len(raw))
	// This reserves its room; the table's contents are known only at the end.
	if _, err := w.WriteAt(head, 0); err != nil {
		return res, err
	}
	res.Size, res.Packed = src.Size, int64(len(head))
	groups := x.layout.groups
	inorder.Each(len(groups), func(i int, p *packedGroup) {
		x.pack(ctx, groups[i].first, groups[i].count, p)
	}, func(i int, p *packedGroup) bool {
		if err = p.err; err == nil {
			err = x.took(&groups[i], p, w, &res)
		}
		if err == nil && progress != nil {
			progress(int64(groups[i].first+groups[i].count), int64(len(x.places)))
		}
		return err == nil
	})
	if err != nil {
		return res, err
	}
	_, err = w.WriteAt(x.layout.appendHead(directory, len(raw)), 0)
	return res, err
}

// took writes the group g.
func (x *writer) took(g *group, p *packedGroup, w io.WriterAt, res *Result) error {
	if int64(len(p.bytes)) > math.MaxUint32 {
		return fmt.Errorf("a group of %d bytes can't be packed", len(p.bytes))
	}
	g.packed, g.crc = uint32(len(p.bytes)), crc32.Checksum(p.bytes, castagnoli)
	at := res.Packed
	res.Packed += int64(len(p.bytes))
	res.Scopes += p.scopes
	if p.plain {
		res.Plain++
	}
	_, err := w.WriteAt(p.bytes, at)
	return err
}

// plan examines the chunks and forms groups: the first chunk by itself, then chunks without
// records, so that opening a trace reads the beginning of the packed file, then chunks of records.
func (x *writer) plan(ctx context.Context) error {
	var b [format.StateOffset + format.StateSize]byte
	n, err := chunks.ReadFull(x.src.R, b[:min(x.src.Size, int64(len(b)))], 0)
	if err != nil {
		return err
	}
	h, _, err := format.DecodeHeader(b[:n])
	if err == nil {
		err = h.Within(x.src.Size)
	}
	if err != nil {
		return err
	}
	l := &x.layout
	l.chunk, l.size, l.missing = int64(h.ChunkSize), x.src.Size, x.src.Missing
	file := chunks.File{R: x.src.R, Size: l.size, Chunk: l.chunk}
	var others, records []int64
	whole := make([]byte, l.chunk)
	for at := l.chunk; at < l.size; at = file.Next(at) {
		if err := ctx.Err(); err != nil {
			return err
		}
		head := whole[:format.ChunkHeaderSize]
		if _, err := file.Read(head, at); err != nil {
			return err
		}
		h, ok, bad := format.DecodeChunkHeader(head, at, uint32(l.chunk))
		switch {
		case ok && bad == nil && h.Kind == format.ChunkRecords:
			records = append(records, at/l.chunk)
		case ok || bad != nil || !zeros(head):
			others = append(others, at/l.chunk)
		default: // not handed out
			if _, err := file.Read(whole, at); err != nil {
				return err
			}
			if !zeros(whole) {
				others = append(others, at/l.chunk)
			}
		}
	}
	x.add([]int64{0})
	x.add(others)
	x.records = len(x.places)
	x.add(records)
	l.heads = make([]byte, len(x.places)*format.ChunkHeaderSize)
	for i, p := range x.places {
		if _, err := file.Read(l.head(i), p*l.chunk); err != nil {
			return err
		}
	}
	return nil
}

// add forms groups of the chunks at the places.
func (x *writer) add(places []int64) {
	for most := int(max(groupBytes/x.layout.chunk, 1)); len(places) > 0; {
		n := min(most, len(places))
		x.layout.groups = append(x.layout.groups, group{first: len(x.places), count: n})
		x.places = append(x.places, places[:n]...)
		places = places[n:]
	}
}

// packedGroup is a packed group to be written.
type packedGroup struct {
	coder  *coder
	bytes  []byte
	scopes int64
	plain  bool
	err    error
}

// pack packs count chunks from the number first on.
func (x *writer) pack(ctx context.Context, first, count int, p *packedGroup) {
	if p.err = ctx.Err(); p.err != nil {
		return
	}
	if p.coder == nil {
		p.coder = newCoder(x.enc, x.dec)
	}
	c := p.coder
	p.scopes, p.plain = 0, false
	size := int(x.layout.chunk)
	b := grow(&c.raw, count*size)
	for i := range count {
		at := x.places[first+i] * x.layout.chunk
		chunk := b[i*size:][:size]
		if _, p.err = chunks.ReadFull(x.src.R, chunk[:min(x.layout.chunk, x.layout.size-at)], at); p.err != nil {
			return
		}
		clear(chunk[min(x.layout.chunk, x.layout.size-at):])
		if head := x.layout.head(first + i); string(head) != string(chunk[:len(head)]) && at > 0 {
			p.err = fmt.Errorf("the chunk at offset %d was changed while the trace was packed; pack it after the recording has ended", at)
			return
		}
	}
	if first >= x.records {
		var ok bool
		if p.bytes, ok = c.records(p.bytes[:0], b, size); ok {
			p.scopes = c.scopes()
			return
		}
		p.plain = true
	}
	p.bytes = c.enc.EncodeAll(b, append(p.bytes[:0], groupPlain))
}
