package timeline

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// runList has many runs, in about a dozen bytes each. They are in blocks of packedRuns, as
// columns whose values have as many bits as the largest needs. Any value of a block can be
// read without the others. The last runs are unpacked until they fill a block.
type runList struct {
	blocks []runBlock
	last   []run
	items  int64 // in all runs
}

const packedRuns = 64

// runBlock has packedRuns runs.
type runBlock struct {
	start int64  // start of the first run
	items int64  // in the blocks before
	bytes []byte // see pack
}

// The columns of a block.
const (
	columnStart = iota // relative to the block's start
	columnWidth        // from the start to the end
	columnLongest
	columnCount
	columnBusy // in zigzag
	columnItem // of single-item runs
	columnName // from here on: xor of the first run's
	columnThread
	columnKind // with flags
	runColumns
)

func (x *runList) len() int { return len(x.blocks)*packedRuns + len(x.last) }

func (x *runList) push(r *run) {
	x.last = append(x.last, *r)
	x.items += int64(r.count)
	if len(x.last) == packedRuns {
		x.pack()
		x.last = x.last[:0]
	}
}

// pack converts the last runs to a block: the width in bits of each column, the first value
// of each xor column, and the columns. Some bytes follow, so that eight can be read at any
// value.
func (x *runList) pack() {
	var values [packedRuns][runColumns]uint64
	var all [runColumns]uint64
	first := &x.last[0]
	b := runBlock{start: first.start, items: x.items}
	for i := range values {
		r, v := &x.last[i], &values[i]
		b.items -= int64(r.count)
		v[columnStart] = uint64(r.start - b.start)
		v[columnWidth] = uint64(r.end - r.start)
		v[columnLongest] = uint64(r.longest)
		v[columnCount] = uint64(r.count)
		v[columnBusy] = uint64(r.busy)<<1 ^ uint64(r.busy>>63)
		if r.count == 1 {
			v[columnItem] = uint64(uint32(r.item))
		}
		v[columnName] = uint64(r.name ^ first.name)
		v[columnThread] = uint64(r.thread ^ first.thread)
		v[columnKind] = uint64(kindAndFlags(r) ^ kindAndFlags(first))
		for c, v := range v {
			all[c] |= v
		}
	}
	var head [packedHead]byte
	size := packedHead + 8
	for c, all := range all {
		width := bits.Len64(all)
		if width > 57 {
			width = 64 // otherwise a value could span nine bytes
		}
		head[c] = byte(width)
		size += width * packedRuns / 8
	}
	for i, v := range [...]uint16{first.name, first.thread, kindAndFlags(first)} {
		binary.LittleEndian.PutUint16(head[runColumns+2*i:], v)
	}
	b.bytes = append(make([]byte, 0, size), head[:]...)
	for c := range all {
		if width := int(head[c]); width > 0 {
			b.bytes = appendColumn(b.bytes, &values, c, width)
		}
	}
	b.bytes = b.bytes[:size]
	x.blocks = append(x.blocks, b)
}

const packedHead = runColumns + 2*(runColumns-columnName)

func kindAndFlags(r *run) uint16 { return uint16(r.kind)<<8 | uint16(r.flags) }

// appendColumn appends a column of values with this many bits.
func appendColumn(b []byte, values *[packedRuns][runColumns]uint64, c, width int) []byte {
	word, have := uint64(0), 0
	for i := range values {
		v := values[i][c]
		word |= v << have
		if have += width; have >= 64 {
			b = binary.LittleEndian.AppendUint64(b, word)
			have -= 64
			word = v >> (width - have)
		}
	}
	return b
}

// column returns a column of a block.
func (b *runBlock) column(c int) packedColumn {
	at := packedHead
	for _, width := range b.bytes[:c] {
		at += int(width) * packedRuns / 8
	}
	width := int(b.bytes[c])
	return packedColumn{b.bytes[at:], width, 1<<width - 1}
}

// packedColumn is a column of a block.
type packedColumn struct {
	bytes []byte
	width int
	mask  uint64
}

func (c *packedColumn) at(i int) uint64 {
	bit := i * c.width
	return binary.LittleEndian.Uint64(c.bytes[bit>>3:]) >> (bit & 7) & c.mask
}

// unpack decodes the runs of a block from the i-th on.
func (b *runBlock) unpack(i int, to []run) {
	at := packedHead
	var columns [runColumns]packedColumn
	for c := range columns {
		width := int(b.bytes[c])
		columns[c] = packedColumn{b.bytes[at:], width, 1<<width - 1}
		at += width * packedRuns / 8
	}
	first := func(c int) uint16 { return binary.LittleEndian.Uint16(b.bytes[runColumns+2*(c-columnName):]) }
	name, thread, kind := first(columnName), first(columnThread), first(columnKind)
	for k := range to {
		start := b.start + int64(columns[columnStart].at(i+k))
		busy := columns[columnBusy].at(i + k)
		kind := kind ^ uint16(columns[columnKind].at(i+k))
		to[k] = run{
			bounds: bounds{start, start + int64(columns[columnWidth].at(i+k)), int64(columns[columnLongest].at(i + k))},
			busy:   int64(busy>>1) ^ -int64(busy&1), count: uint32(columns[columnCount].at(i + k)), item: int32(columns[columnItem].at(i + k)),
			name: name ^ uint16(columns[columnName].at(i+k)), thread: thread ^ uint16(columns[columnThread].at(i+k)),
			kind: format.Kind(kind >> 8), flags: uint8(kind),
		}
	}
}

// startOf returns the start of run i.
func (x *runList) startOf(i int) int64 {
	if k := i - len(x.blocks)*packedRuns; k >= 0 {
		return x.last[k].start
	}
	b := &x.blocks[i/packedRuns]
	starts := b.column(columnStart)
	return b.start + int64(starts.at(i%packedRuns))
}

// endOf returns the end of run i.
func (x *runList) endOf(i int) int64 {
	if k := i - len(x.blocks)*packedRuns; k >= 0 {
		return x.last[k].end
	}
	widths := x.blocks[i/packedRuns].column(columnWidth)
	return x.startOf(i) + int64(widths.at(i%packedRuns))
}

// from returns the index of the first run that starts at t or later.
func (x *runList) from(t int64) int {
	b := sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].start >= t })
	if b > 0 {
		starts, since := x.blocks[b-1].column(columnStart), uint64(t-x.blocks[b-1].start)
		if k := sort.Search(packedRuns, func(i int) bool { return starts.at(i) >= since }); k < packedRuns {
			return (b-1)*packedRuns + k
		}
	}
	if b < len(x.blocks) {
		return b * packedRuns
	}
	return b*packedRuns + sort.Search(len(x.last), func(i int) bool { return x.last[i].start >= t })
}

// reaching returns the index of the first run that ends at t or later.
func (x *runList) reaching(t int64) int {
	first := x.from(t)
	if first > 0 && x.endOf(first-1) >= t {
		first--
	}
	return first
}

// before returns the number of items in the runs before run i.
func (x *runList) before(i int) int64 {
	n := x.items
	if k := i - len(x.blocks)*packedRuns; k >= 0 {
		for i := range x.last[k:] {
			n -= int64(x.last[k+i].count)
		}
		return n
	}
	b := &x.blocks[i/packedRuns]
	counts := b.column(columnCount)
	n = b.items
	for k := range i % packedRuns {
		n += int64(counts.at(k))
	}
	return n
}

// give passes the runs from first to end to a merger.
func (x *runList) give(m *merger, first, end int) {
	var some [packedRuns]run
	for packed := len(x.blocks) * packedRuns; first < min(end, packed); {
		k := first % packedRuns
		list := some[:min(packedRuns-k, end-first)]
		x.blocks[first/packedRuns].unpack(k, list)
		m.cells(list)
		first += len(list)
	}
	if first < end {
		packed := len(x.blocks) * packedRuns
		m.cells(x.last[first-packed : end-packed])
	}
}
