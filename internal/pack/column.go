package pack

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"github.com/scopeview/scopeview/internal/format"
)

// how is the way in which a column stores a value for which another is expected.
type how uint8

const (
	plain  how = 0 // the value
	delta  how = 1 // the difference from the expected one, as zigzag: small numbers of either sign are small
	either how = 2 // the shorter of the two in this group
)

// column identifies a property of records that is stored together.
type column int

// Columns, in the order in which a group has them.
const (
	colShapeHead column = iota
	colShapeSlots
	colEnd
	colShape
	colGoid
	colPops
	colNested
	colNext
	colLeaf
	colOuter
	colRest
	colSlack
	colOpen1
	colOpen3
	colWord1
	colWord3
	colBegun
	colLoc
	colRef
	colText
	colTextLen
	colTextCut
	colRaw
	colArg  // the first of one column for each slot
	columns = colArg + format.MaxSlots
)

// table describes the columns: contents, form and expected value. docs/packed.md has it too.
var table = [columns]struct {
	how          how
	what, expect string
}{
	colShapeHead:  {plain, "each shape: word 2, with the bits that the model says in place of the goroutine", ""},
	colShapeSlots: {plain, "each shape: the types of its slots, as in an extension's bits 12–59", ""},
	colEnd:        {plain, "each chunk: the number of its places", ""},
	colShape:      {plain, "each place: its shape", ""},
	colGoid:       {delta, "each record: its goroutine", "that of the record before; of a chunk's first 0"},
	colPops:       {plain, "each record, and once more where its goroutine changes: the number of scopes that ended before it", ""},
	colNested:     {either, "begins after a begin", "the mean"},
	colNext:       {either, "begins after an end", "the mean"},
	colLeaf:       {either, "ends after their begin", "the mean"},
	colOuter:      {either, "other ends", "the mean"},
	colRest:       {plain, "differences of time: the remainder of the unit", ""},
	colSlack:      {either, "slack", "the mean"},
	colOpen1:      {delta, "open scopes: word 1", "if byte 5 of the chunk is 1, that of the chunk's open scope before, at first 0; else the start, and bit 63"},
	colOpen3:      {delta, "open scopes: word 3", "that of the chunk's open scope before, at first 0"},
	colWord1:      {delta, "records of other kinds: word 1", "that of the shape's record before, at first 0"},
	colWord3:      {delta, "records of other kinds: word 3", "as in column 14"},
	colBegun:      {delta, "ends apart: word 1", "the start of the record that the shape's last loc names, if that is in this chunk and before; else the start"},
	colLoc:        {delta, "loc slots", "of ends apart: the goroutine's last open scope, of which the loc's own scope then is taken away, if it is that; else that of the shape's record before"},
	colRef:        {delta, "goid and begin slots", "goid: the goroutine; begin: word 2 of the record that the shape's last loc names, as in column 16; else that of the shape's record before"},
	colText:       {either, "text slots: the number of the text, from 0 on", "the number behind that of the shape's record before"},
	colTextLen:    {plain, "each text: its length", ""},
	colTextCut:    {plain, "each text: the original length less the length", ""},
	colRaw:        {plain, "places with other bytes: the four words", ""},
	colArg:        {either, "the first slot, if it differs", "that of the shape's record before, at first 0"}, // the same for the columns behind it
}

func (c column) how() how { return table[min(c, colArg)].how }

// values is a column of one group.
type values struct {
	is    how      // from the table
	list  []uint64 // the stored values: plain, or delta
	other []uint64 // of either: the values as delta
	long  [2]int   // of either: total bits, plain and as delta
	how   how      // form of list
	next  int      // index of the next one to read
}

func zigzag(v uint64) uint64   { return v<<1 ^ uint64(int64(v)>>63) }
func unzigzag(z uint64) uint64 { return z>>1 ^ -(z & 1) }

// add stores v, for which pred is expected.
func (k *values) add(v, pred uint64) {
	switch k.is {
	case plain:
		k.list = append(k.list, v)
	case delta:
		k.list = append(k.list, zigzag(v-pred))
	default:
		z := zigzag(v - pred)
		k.list, k.other = append(k.list, v), append(k.other, z)
		k.long[0] += bits.Len64(v)
		k.long[1] += bits.Len64(z)
	}
}

// choose sets list to the shorter form.
func (k *values) choose() {
	k.how = k.is
	if k.how != either {
		return
	}
	k.how = plain
	if k.long[1] < k.long[0] {
		k.how = delta
		k.list, k.other = k.other, k.list
	}
}

func (k *values) reset() {
	k.list, k.other, k.long, k.next = k.list[:0], k.other[:0], [2]int{}, 0
}

// append appends the column: its number of values, their form and number of planes, and each plane:
// the bytes of one weight, packed. A plane of zeros has no bytes.
func (k *values) append(b []byte, z *zstd.Encoder, scratch *[]byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(k.list)))
	if len(k.list) == 0 {
		return b
	}
	var all uint64
	for _, v := range k.list {
		all |= v
	}
	planes := (bits.Len64(all) + 7) / 8
	b = append(b, byte(k.how)<<4|byte(planes))
	for p := range planes {
		plane := grow(scratch, len(k.list))
		shift := 8 * p
		var any byte
		for i, v := range k.list {
			x := byte(v >> shift)
			plane[i] = x
			any |= x
		}
		if any == 0 {
			b = binary.AppendUvarint(b, 0)
			continue
		}
		b = appendPacked(b, plane, z)
	}
	return b
}

// appendPacked appends the packed bytes, behind their length.
func appendPacked(b, plain []byte, z *zstd.Encoder) []byte {
	// The length comes first, and is known only afterwards.
	at := len(b)
	b = z.EncodeAll(plain, append(b, 0, 0, 0, 0))
	n := len(b) - at - 4
	var head [4]byte
	used := binary.PutUvarint(head[:], uint64(n))
	copy(b[at:], head[:used])
	copy(b[at+used:], b[at+4:])
	return b[:at+used+n]
}

// grow returns *b with n bytes.
func grow(b *[]byte, n int) []byte {
	if cap(*b) < n {
		*b = make([]byte, n+n/4)
	}
	*b = (*b)[:n]
	return *b
}

// input reads a packed group. Data that make no sense set err, and read as zero.
type input struct {
	b   []byte
	z   *zstd.Decoder
	err error
}

func (in *input) fail(text string) {
	if in.err == nil {
		in.err = fmt.Errorf("%w: %s", format.ErrCorrupt, text)
	}
	in.b = nil
}

// number reads a number of at most max.
func (in *input) number(max uint64) int {
	v, n := binary.Uvarint(in.b)
	if n <= 0 || v > max {
		in.fail("a number in a packed group is cut off or too large")
		return 0
	}
	in.b = in.b[n:]
	return int(v)
}

func (in *input) byte() byte {
	if len(in.b) == 0 {
		in.fail("a packed group is cut off")
		return 0
	}
	c := in.b[0]
	in.b = in.b[1:]
	return c
}

// packed unpacks the next packed bytes into to, which must give n bytes.
func (in *input) packed(to *[]byte, n, packed int) []byte {
	if in.err != nil {
		return nil
	}
	dst := grow(to, n)
	got, err := in.z.DecodeAll(in.b[:packed], dst[:0])
	if err != nil || len(got) != n {
		in.fail("packed bytes are damaged")
		return nil
	}
	in.b = in.b[packed:]
	return got
}

// column reads a column of at most most values.
func (in *input) column(k *values, most int, scratch *[]byte) {
	k.reset()
	n := in.number(uint64(most))
	if n == 0 {
		return
	}
	if cap(k.list) < n {
		k.list = make([]uint64, n+n/4)
	}
	k.list = k.list[:n]
	head := in.byte()
	planes := int(head & 15)
	if k.how = how(head >> 4); k.how > delta || planes > 8 {
		in.fail("a column of a packed group has an unknown form")
		return
	}
	first := true
	for p := range planes {
		size := in.number(uint64(len(in.b)))
		if size == 0 {
			continue
		}
		if size > len(in.b) {
			in.fail("a packed group is cut off")
			return
		}
		plane := in.packed(scratch, n, size)
		if plane == nil {
			return
		}
		spread(k.list, plane, 8*p, first)
		first = false
	}
	if first {
		clear(k.list)
	}
}

// spread adds the bytes of a plane to the values; the first plane sets them.
func spread(list []uint64, plane []byte, shift int, first bool) {
	plane = plane[:len(list)]
	if first {
		for i, x := range plane {
			list[i] = uint64(x) << shift
		}
		return
	}
	// Planes of high weight are mostly zeros.
	i := 0
	for ; i+8 <= len(plane); i += 8 {
		if binary.LittleEndian.Uint64(plane[i:]) == 0 {
			continue
		}
		for j := i; j < i+8; j++ {
			list[j] |= uint64(plane[j]) << shift
		}
	}
	for ; i < len(plane); i++ {
		list[i] |= uint64(plane[i]) << shift
	}
}
