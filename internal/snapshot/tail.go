package snapshot

import (
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// blockWriter writes chunks of blocks to the snapshot, from the place at on.
type blockWriter struct {
	*chunks.Builder
	c  *copier
	at int
}

func (c *copier) newBlocks(at int) *blockWriter {
	flags := uint32(format.FlagFinal)
	if c.ring {
		flags |= format.FlagKept
	}
	head := format.ChunkHeader{Kind: format.ChunkBlocks, Path: c.header.Path, Since: c.moment, Gen: 1, Flags: flags}
	return &blockWriter{chunks.NewBuilder(int(c.cs), head), c, at}
}

// like copies the hand-out data of the chunk k.
func (w *blockWriter) like(k *chunk) {
	w.Head.Since, w.Head.Gen, w.Head.Number = k.Since, k.Gen, k.Number
	if !k.kept {
		w.Head.Flags &^= format.FlagKept
	}
}

// add appends a block. It leaves out one that fits into no chunk.
func (w *blockWriter) add(t format.BlockType, p []byte) error {
	if w.Block(t, p) || format.BlockSize(len(p)) > int(w.c.cs)-format.ChunkHeaderSize {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.at++
	w.Block(t, p)
	return nil
}

// flush writes the chunk.
func (w *blockWriter) flush() error {
	w.Head.Index = uint32(w.at)
	err := w.c.writeChunk(w.Build(), w.at)
	w.Reset(w.Head)
	return err
}

// addUntil is add for blocks that are not later than the snapshot's moment.
func (w *blockWriter) addUntil(t format.BlockType, p []byte) error {
	moment := w.c.moment
	from, to, timed := times(t, p)
	switch {
	case t == format.BlockStop:
		return nil // the snapshot has its own
	case !timed || to <= moment:
	case t == format.BlockCarry:
		// It is of a chunk that existed at the moment and was overwritten since: only the carry's
		// own time is later.
		k, err := format.DecodeCarry(p)
		if err != nil || latest(&k.Record) > moment {
			return nil
		}
		k.Ticks = moment
		p = format.AppendCarry(nil, &k)
	case t == format.BlockBreak && from < moment:
		// The time of the step is not known: it may be before.
		p = format.AppendBreak(nil, from, moment)
	default:
		return nil
	}
	return w.add(t, p)
}

// times returns the first and the last time in a block.
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

// facts appends the snapshot's facts, and its stop.
func (c *copier) facts(w *blockWriter) error {
	made := time.Now().UTC().Format(time.RFC3339) + " of " + filepath.Base(c.src.Name())
	for _, f := range append([]Fact{{"snapshot", made}}, c.options.Facts...) {
		if err := w.add(format.BlockInfo, format.AppendInfo(nil, f.Key, f.Value)); err != nil {
			return err
		}
	}
	return w.add(format.BlockStop, format.AppendTicks(nil, c.moment))
}

// writeHeader writes chunk 0: the source's, with a final state, and without the requests of
// operators.
func (c *copier) writeHeader() error {
	b := c.first
	clear(b)
	if _, err := chunks.ReadFull(c.src, b[:format.StateOffset], 0); err != nil {
		return c.readError(0, err)
	}
	format.PutState(b[format.StateOffset:], &format.State{
		Closed: true, Tick: c.moment, End: c.size, Lost: c.state.Lost, Overwritten: c.overwritten, Until: c.until,
	})
	if c.header.HasCounters() {
		format.PutCounters(b[format.CountersOffset:], &c.counters, !c.miscounted)
	}
	return c.writeChunk(b, 0)
}
