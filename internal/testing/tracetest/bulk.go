package tracetest

import "github.com/scopeview/scopeview/internal/format"

// Bulk returns a trace with the given number of record chunks, written by four goroutines in
// turns. Every second scope lies inside the previous one; with args every scope has an int,
// a string and a named value.
func Bulk(chunks int, args bool) []byte {
	const step = 300 // ns from begin to begin, similar to real scopes
	h := format.Header{
		Major: format.Major, Minor: format.Minor, ChunkSize: format.ChunkSize, PageSize: 4096, PID: 4711,
		Clock: format.ClockMonotonic, Path: format.PathAssembly, Backing: format.BackingDisk,
		StartTicks: 1, StartMono: 1, StartWall: 1_700_000_000e9, TickRate: 1_000_000_000,
	}
	b := make([]byte, (chunks+2)*format.ChunkSize)
	format.AppendHeader(b[:0], &h)
	format.PutChunkHeader(b[format.ChunkSize:], &format.ChunkHeader{Kind: format.ChunkBlocks, Index: 1, Since: 1, Gen: 1})
	blocks := b[format.ChunkSize : format.ChunkSize+format.ChunkHeaderSize]
	for id, name := range []string{2: "parse", 3: "store.read", 4: "bytes", 5: "worker 1", 6: "worker 2", 7: "worker 3", 8: "worker 4"} {
		if name != "" {
			blocks = format.AppendBlock(blocks, format.BlockName, format.AppendName(nil, uint16(id), name))
		}
	}
	room := format.RecordSize // of a scope
	if args {
		room += 2 * format.RecordSize
	}
	for c := range chunks {
		owner := c % 4
		off := (c + 2) * format.ChunkSize
		per := (format.ChunkSize - format.ChunkHeaderSize) / format.RecordSize
		start := int64(1000 + c/4*per*step + owner)
		p := b[off : off+format.ChunkHeaderSize]
		goid := uint64(20 + owner)
		if c < 4 {
			p = format.AppendRecord(p, &format.Record{Start: start, Head: format.Head(goid, format.KindTrack, false, uint16(5+owner))})
		}
		for n := int64(0); len(p)+room <= format.ChunkSize; n++ {
			r := format.Record{Start: start + n*step, Head: format.Head(goid, format.KindTask, args, uint16(2+n&1)), CPU: 250<<2 | uint64(format.Exact)}
			r.Stop = r.Start + 290
			if n&1 == 0 {
				r.Stop += step
				r.CPU = 400<<2 | uint64(format.AtMost)
			}
			p = format.AppendRecord(p, &r)
			if args {
				p, _ = format.AppendExt(p, []format.Slot{
					{Type: format.SlotInt, Value: uint64(n)},
					{Type: format.SlotString, Str: []byte("src/cmd/main.go"), Full: 15},
					{Type: format.SlotKey, Value: 4}, {Type: format.SlotInt, Value: 4096},
				})
			}
		}
		format.PutChunkHeader(b[off:], &format.ChunkHeader{
			Kind: format.ChunkRecords, Path: format.PathAssembly, Index: uint32(c + 2), Owner: uint32(owner), Since: start,
			Gen: 1, Flags: format.FlagFinal, Sealed: int64(len(p)),
		})
	}
	return b
}
