package snapshot

import (
	"encoding/binary"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// blockWriter writes chunks of blocks to the snapshot, from the place at on.
type blockWriter struct {
	c    *copier
	at   int
	head format.ChunkHeader
	b    []byte // the chunk so far
	one  []byte
}

func (c *copier) newBlocks(at int) *blockWriter {
	flags := uint32(format.FlagFinal)
	if c.ring {
		flags |= format.FlagKept
	}
	w := &blockWriter{c: c, at: at, b: make([]byte, format.ChunkHeaderSize, c.cs)}
	w.head = format.ChunkHeader{Kind: format.ChunkBlocks, Path: c.header.Path, Since: c.moment, Gen: 1, Flags: flags}
	return w
}

// like makes the chunk pass for the chunk k.
func (w *blockWriter) like(k *chunk) {
	w.head.Since, w.head.Gen, w.head.Number = k.Since, k.Gen, k.Number
	if !k.kept {
		w.head.Flags &^= format.FlagKept
	}
}

// add appends a block. One that fits into no chunk is left out.
func (w *blockWriter) add(t format.BlockType, p []byte) error {
	w.one = format.AppendBlock(w.one[:0], t, p)
	if len(w.one) > cap(w.b)-format.ChunkHeaderSize {
		return nil
	}
	if len(w.b)+len(w.one) > cap(w.b) {
		if err := w.flush(); err != nil {
			return err
		}
		w.at++
	}
	w.b = append(w.b, w.one...)
	return nil
}

// flush writes the chunk.
func (w *blockWriter) flush() error {
	w.head.Index, w.head.Sealed = uint32(w.at), int64(len(w.b))
	format.PutChunkHeader(w.b, &w.head)
	whole := w.b[:cap(w.b)]
	clear(whole[len(w.b):])
	w.b = w.b[:format.ChunkHeaderSize]
	return w.c.writeChunk(whole, w.at)
}

// addUntil is add for what is not later than the snapshot's moment.
func (w *blockWriter) addUntil(t format.BlockType, p []byte) error {
	moment := w.c.moment
	from, to, timed := times(t, p)
	switch {
	case t == format.BlockStop:
		return nil // there will be another
	case !timed || to <= moment:
	case t == format.BlockCarry:
		// It is of a chunk that was there at the moment and was overwritten since:
		// only that it was told then is later.
		k, err := format.DecodeCarry(p)
		if err != nil || latest(&k.Record) > moment {
			return nil
		}
		k.Ticks = moment
		p = format.AppendCarry(nil, &k)
	case t == format.BlockBreak && from < moment:
		// When the clock stepped is not known: maybe before.
		p = format.AppendBreak(nil, from, moment)
	default:
		return nil
	}
	return w.add(t, p)
}

// times are the first and the last moment that a block tells of.
func times(t format.BlockType, p []byte) (from, to int64, ok bool) {
	s := format.BlockOf(t)
	if s == nil {
		return 0, 0, false
	}
	var buf [2]int64
	all := s.Times(buf[:0], p)
	if len(all) == 0 {
		return 0, 0, false
	}
	from, to = all[0], all[len(all)-1]
	return from, to, from > 0 && to < format.MaxTicks
}

// facts appends what is to be known of the snapshot, and its stop.
func (c *copier) facts(w *blockWriter) error {
	made := time.Now().UTC().Format(time.RFC3339) + " of " + filepath.Base(c.src.Name())
	for _, f := range append([]Fact{{"snapshot", made}}, c.options.Facts...) {
		if err := w.add(format.BlockInfo, format.AppendInfo(nil, f.Key, f.Value)); err != nil {
			return err
		}
	}
	return w.add(format.BlockStop, format.AppendTicks(nil, c.moment))
}

// writeHeader writes chunk 0: that of the source, whose state is final, and
// without what anybody asked its writer for.
func (c *copier) writeHeader() error {
	b := c.first
	clear(b)
	if _, err := chunks.ReadFull(c.src, b[:format.StateOffset], 0); err != nil {
		return c.readError(0, err)
	}
	le := binary.LittleEndian
	s := b[format.StateOffset:]
	le.PutUint64(s[format.StateClosed:], 1)
	le.PutUint64(s[format.StateTick:], uint64(c.moment))
	le.PutUint64(s[format.StateEnd:], uint64(c.size))
	le.PutUint64(s[format.StateLost:], uint64(c.state.Lost))
	le.PutUint64(s[format.StateOverwritten:], uint64(c.overwritten))
	le.PutUint64(s[format.StateUntil:], uint64(c.until))
	if c.header.HasCounters() {
		format.PutCounters(b[format.CountersOffset:], &c.counters, !c.miscounted)
	}
	return c.writeChunk(b, 0)
}
