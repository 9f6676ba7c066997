package pack

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/scopeview/scopeview/internal/format"
)

// Version of packed files. A reader refuses a larger major version.
const (
	major = 1
	minor = 0
)

const (
	headerSize = 64
	tableEntry = 8
	groupBytes = 2 << 20 // chunks in a group: a range of time that is read without the rest
	mostGroup  = 16 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// layout holds the offsets and sizes in a packed file.
type layout struct {
	chunk   int64 // bytes of a chunk
	size    int64 // of the trace
	missing int64 // segments that the trace lacked
	groups  []group
	places  []chunkPlace // sorted by place
	heads   []byte       // the headers of the chunks, by number
}

// group is chunks that are packed together.
type group struct {
	first  int // the number of its first chunk
	count  int
	offset int64 // in the packed file
	packed uint32
	crc    uint32
}

// chunkPlace is a chunk's place in the trace, and its number in the packed file.
type chunkPlace struct {
	place  int64
	number int
	group  int
}

func (l *layout) head(number int) []byte {
	return l.heads[number*format.ChunkHeaderSize:][:format.ChunkHeaderSize]
}

// find returns the chunk at the place; ok is false if there are only zeros.
func (l *layout) find(place int64) (c chunkPlace, ok bool) {
	i, ok := l.search(place)
	if ok {
		c = l.places[i]
	}
	return c, ok
}

func (l *layout) search(place int64) (int, bool) {
	return slices.BinarySearchFunc(l.places, place, func(c chunkPlace, place int64) int { return int(min(max(c.place-place, -1), 1)) })
}

// appendDirectory appends the directory before it is packed.
func (l *layout) appendDirectory(b []byte, places []int64) []byte {
	for i := range l.groups {
		g := &l.groups[i]
		b = binary.AppendUvarint(b, uint64(g.count))
		last := int64(-1)
		for _, p := range places[g.first : g.first+g.count] {
			b = binary.AppendUvarint(b, uint64(p-last-1))
			last = p
		}
		for j := range format.ChunkHeaderSize {
			for n := g.first; n < g.first+g.count; n++ {
				b = append(b, l.heads[n*format.ChunkHeaderSize+j])
			}
		}
	}
	return b
}

// readDirectory reads the directory; the table has the groups' sizes and checksums.
func (l *layout) readDirectory(b, table []byte, offset int64) error {
	bad := fmt.Errorf("%w: the directory is invalid", format.ErrCorrupt)
	most := uint64(l.size+l.chunk-1) / uint64(l.chunk)
	// Each chunk takes more bytes than its header. Growing step by step would use the memory
	// several times.
	room := len(b) / (format.ChunkHeaderSize + 1)
	l.places, l.heads = make([]chunkPlace, 0, room), make([]byte, 0, room*format.ChunkHeaderSize)
	for i := range len(table) / tableEntry {
		count, n := binary.Uvarint(b)
		if n <= 0 {
			return bad
		}
		b = b[n:]
		if count == 0 || count > uint64(len(b)) || count > 1 && count*uint64(l.chunk) > mostGroup {
			return bad
		}
		g := group{first: len(l.places), count: int(count), offset: offset}
		g.packed = binary.LittleEndian.Uint32(table[i*tableEntry:])
		g.crc = binary.LittleEndian.Uint32(table[i*tableEntry+4:])
		offset += int64(g.packed)
		last := uint64(1<<64 - 1)
		for range count {
			d, n := binary.Uvarint(b)
			if last += d + 1; n <= 0 || d > most || last >= most {
				return bad
			}
			b = b[n:]
			l.places = append(l.places, chunkPlace{int64(last), len(l.places), i})
		}
		const size = format.ChunkHeaderSize
		if len(b) < g.count*size {
			return bad
		}
		at := len(l.heads)
		l.heads = append(l.heads, b[:g.count*size]...)
		for n := range g.count {
			for j := range size {
				l.heads[at+n*size+j] = b[j*g.count+n]
			}
		}
		b = b[g.count*size:]
		l.groups = append(l.groups, g)
	}
	slices.SortFunc(l.places, func(a, b chunkPlace) int { return int(min(max(a.place-b.place, -1), 1)) })
	for i := 1; i < len(l.places); i++ {
		if l.places[i].place == l.places[i-1].place {
			return bad
		}
	}
	if c, ok := l.find(0); len(b) > 0 || !ok || c.number != 0 || l.groups[0].count != 1 {
		return bad
	}
	return nil
}

// appendHead appends the file header, the table and the directory.
func (l *layout) appendHead(directory []byte, raw int) []byte {
	le := binary.LittleEndian
	b := make([]byte, headerSize, headerSize+tableEntry*len(l.groups)+len(directory))
	for i := range l.groups {
		b = le.AppendUint32(b, l.groups[i].packed)
		b = le.AppendUint32(b, l.groups[i].crc)
	}
	table := b[headerSize:]
	copy(b, format.PackedMagic)
	le.PutUint16(b[8:], major)
	le.PutUint16(b[10:], minor)
	le.PutUint32(b[12:], uint32(l.chunk))
	le.PutUint64(b[16:], uint64(l.size))
	le.PutUint64(b[24:], uint64(l.missing))
	le.PutUint32(b[32:], uint32(len(l.groups)))
	le.PutUint32(b[36:], uint32(len(directory)))
	le.PutUint32(b[40:], uint32(raw))
	le.PutUint32(b[44:], crc32.Checksum(table, castagnoli))
	le.PutUint32(b[48:], crc32.Checksum(directory, castagnoli))
	le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	return append(b, directory...)
}

// readHead reads the beginning of a packed file. read returns the next n bytes.
func readHead(read func(n int64) ([]byte, error), z *zstd.Decoder) (*layout, error) {
	h, err := read(headerSize)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if string(h[:8]) != format.PackedMagic {
		return nil, format.ErrNotTrace
	}
	if v := le.Uint16(h[8:]); v > major {
		return nil, fmt.Errorf("%w (packed format %d.%d, this tool reads up to %d); install a newer one: go install github.com/scopeview/scopeview/cmd/scopeview@latest", format.ErrNewer, v, le.Uint16(h[10:]), major)
	}
	if le.Uint32(h[60:]) != crc32.Checksum(h[:60], castagnoli) {
		return nil, fmt.Errorf("%w: the header's checksum is wrong", format.ErrCorrupt)
	}
	l := &layout{chunk: int64(le.Uint32(h[12:])), size: int64(le.Uint64(h[16:])), missing: int64(le.Uint64(h[24:]))}
	if c := l.chunk; c < 4<<10 || c > 16<<20 || c&(c-1) != 0 || l.size <= 0 || l.size > 1<<56 || l.missing < 0 {
		return nil, fmt.Errorf("%w: the header is invalid", format.ErrCorrupt)
	}
	groups, packed, raw := int64(le.Uint32(h[32:])), int64(le.Uint32(h[36:])), int64(le.Uint32(h[40:]))
	tableCRC, directoryCRC := le.Uint32(h[44:]), le.Uint32(h[48:])
	// No directory repeats itself enough to be packed better than that.
	if raw > 1<<20+4096*packed {
		return nil, fmt.Errorf("%w: the directory claims %d bytes", format.ErrCorrupt, raw)
	}
	table, err := read(groups * tableEntry)
	if err != nil {
		return nil, err
	}
	table = slices.Clone(table)
	directory, err := read(packed)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(table, castagnoli) != tableCRC || crc32.Checksum(directory, castagnoli) != directoryCRC {
		return nil, fmt.Errorf("%w: the directory's checksum is wrong", format.ErrCorrupt)
	}
	b, err := z.DecodeAll(directory, make([]byte, 0, raw))
	if err != nil || int64(len(b)) != raw {
		return nil, fmt.Errorf("%w: the directory is damaged", format.ErrCorrupt)
	}
	return l, l.readDirectory(b, table, headerSize+groups*tableEntry+packed)
}
