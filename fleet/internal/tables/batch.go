package tables

// Batch is some rows of a table.
type Batch struct {
	Table *Table
	cols  [][]int64
	texts []string
}

// NewBatch returns one without rows.
func NewBatch(t *Table) *Batch { return &Batch{Table: t, cols: make([][]int64, len(t.Columns))} }

// Len is how many rows it has.
func (b *Batch) Len() int { return len(b.cols[0]) }

// Reset empties it and keeps its memory.
func (b *Batch) Reset() {
	for i := range b.cols {
		b.cols[i] = b.cols[i][:0]
	}
	clear(b.texts)
	b.texts = b.texts[:0]
}

// Text keeps a text for a column of that type; Null for the empty text.
func (b *Batch) Text(s string) int64 {
	if s == "" {
		return Null
	}
	b.texts = append(b.texts, s)
	return int64(len(b.texts) - 1)
}

// Add appends a row, a value for each column of the table.
func (b *Batch) Add(row ...int64) {
	for i, v := range row[:len(b.cols)] {
		b.cols[i] = append(b.cols[i], v)
	}
}

// Set changes a value of a row that is there.
func (b *Batch) Set(row, column int, v int64) { b.cols[column][row] = v }

// take appends the rows from i up to j of another batch of the table.
func (b *Batch) take(from *Batch, i, j int) {
	base := int64(len(b.texts))
	b.texts = append(b.texts, from.texts...) // those of the rows around, too: they are few
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
