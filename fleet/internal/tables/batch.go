package tables

import "encoding/hex"

// Batch is some rows of a table.
type Batch struct {
	Table *Table
	cols  [][]int64
	texts []byte // concatenated
	ends  []int  // end of each text
}

// NewBatch returns an empty batch.
func NewBatch(t *Table) *Batch { return &Batch{Table: t, cols: make([][]int64, len(t.Columns))} }

// Len returns the number of rows.
func (b *Batch) Len() int { return len(b.cols[0]) }

// Reset empties it and keeps its memory.
func (b *Batch) Reset() {
	for i := range b.cols {
		b.cols[i] = b.cols[i][:0]
	}
	b.texts, b.ends = b.texts[:0], b.ends[:0]
}

// Text stores a text for a column of that type; Null for "".
func (b *Batch) Text(s string) int64 {
	b.texts = append(b.texts, s...)
	return b.kept(len(s))
}

// Bytes is Text for bytes that may change later.
func (b *Batch) Bytes(s []byte) int64 {
	b.texts = append(b.texts, s...)
	return b.kept(len(s))
}

// Hex is Text for bytes in hexadecimal.
func (b *Batch) Hex(s []byte) int64 {
	b.texts = hex.AppendEncode(b.texts, s)
	return b.kept(len(s))
}

// kept returns the index of the appended text.
func (b *Batch) kept(size int) int64 {
	if size == 0 {
		return Null
	}
	b.ends = append(b.ends, len(b.texts))
	return int64(len(b.ends) - 1)
}

// text returns a text by its index.
func (b *Batch) text(i int64) []byte {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.texts[from:b.ends[i]]
}

// Add appends a row, a value for each column of the table.
func (b *Batch) Add(row ...int64) {
	for i, v := range row[:len(b.cols)] {
		b.cols[i] = append(b.cols[i], v)
	}
}

// Set changes a value of an existing row.
func (b *Batch) Set(row, column int, v int64) { b.cols[column][row] = v }

// take appends the rows from i up to j of another batch of the table.
func (b *Batch) take(from *Batch, i, j int) {
	base, size := int64(len(b.ends)), len(b.texts)
	b.texts = append(b.texts, from.texts...) // including the few of other rows
	for _, end := range from.ends {
		b.ends = append(b.ends, size+end)
	}
	for c, col := range from.cols {
		at := len(b.cols[c])
		b.cols[c] = append(b.cols[c], col[i:j]...)
		if base == 0 || b.Table.Columns[c].Type != Text {
			continue
		}
		for k, v := range b.cols[c][at:] {
			if v != Null {
				b.cols[c][at+k] = v + base
			}
		}
	}
}

// Value returns a value of a row.
func (b *Batch) Value(row, column int) int64 { return b.cols[column][row] }
