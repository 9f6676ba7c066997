package tables

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// Numbers of rows sorted at once, and per row group: DuckDB works by groups of 122,880 rows,
// one per thread.
const (
	runRows   = 4 * groupRows
	groupRows = 120 << 10
)

// dictionaryBytes is the maximum size of a column's dictionary in a row group; columns with
// more are written plain from there on.
const dictionaryBytes = 1 << 20

// File writes rows of a table to a Parquet file.
type File struct {
	words *Words
	run   *Batch
	w     io.Writer
	out   *parquet.GenericWriter[any] // nil before the first rows are written
	at    []int                       // by column of the file, which are sorted by name: the column of the table
}

// schemas are the tables' Parquet schemas.
var schemas = func() map[*Table]*parquet.Schema {
	m := make(map[*Table]*parquet.Schema)
	for _, t := range All {
		g := parquet.Group{}
		for _, c := range t.Columns {
			var n parquet.Node
			switch c.Type {
			case Time:
				// UTC, but not marked as adjusted to it: DuckDB truncates adjusted times to
				// microseconds.
				n = parquet.Encoded(parquet.TimestampAdjusted(parquet.Nanosecond, false), &parquet.DeltaBinaryPacked)
			case Int:
				n = parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
			case Word:
				n = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
			case Text:
				n = parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray)
			case Float:
				n = parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.RLEDictionary)
			case Bool:
				n = parquet.Leaf(parquet.BooleanType)
			}
			if c.Null {
				n = parquet.Optional(n)
			}
			g[c.Name] = n
		}
		m[t] = parquet.NewSchema(t.Name, g)
	}
	return m
}()

// NewFile returns a File that writes to w.
func NewFile(t *Table, words *Words, w io.Writer) *File {
	f := &File{words: words, run: NewBatch(t), w: w}
	for _, path := range schemas[t].Columns() {
		f.at = append(f.at, slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == path[0] }))
	}
	return f
}

// open begins the file when its first rows are known.
func (f *File) open() {
	t := f.run.Table
	f.out = parquet.NewGenericWriter[any](f.w, schemas[t],
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.CreatedBy("scopeview", "1", "fleet"),
		parquet.DictionaryMaxBytes(dictionaryBytes),
		parquet.BloomFilters(f.blooms()...),
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending(t.Columns[1].Name), parquet.Ascending(t.Columns[0].Name))))
}

// blooms returns the columns with Bloom filters, so that a search for a request reads only
// some row groups. Without requests the filters would be useless and as large.
func (f *File) blooms() (list []parquet.BloomFilterColumn) {
	for i, c := range f.run.Table.Columns {
		if c.Name == "trace_id" && slices.ContainsFunc(f.run.cols[i], func(v int64) bool { return v != Null }) {
			list = append(list, parquet.SplitBlockFilter(bloomBits, c.Name))
		}
	}
	return list
}

// bloomBits is the number of bits per value: of a hundred groups without a value one is
// read.
const bloomBits = 10

// Write writes the rows from i up to j of a batch.
func (f *File) Write(b *Batch, i, j int) error {
	for i < j {
		n := min(j-i, runRows-f.run.Len())
		f.run.take(b, i, i+n)
		i += n
		if f.run.Len() == runRows {
			if err := f.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flush sorts the rows that are not in a row group yet, and writes them as row groups.
func (f *File) Flush() error {
	if f.out == nil {
		f.open()
	}
	order := f.sorted()
	var groups []*parquet.ConcurrentRowGroupWriter
	var errs []error
	for from := 0; from < len(order); from += groupRows {
		groups = append(groups, f.out.BeginRowGroup())
		errs = append(errs, nil)
	}
	var wait sync.WaitGroup
	for w := range min(len(groups), runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := w; i < len(groups); i += runtime.GOMAXPROCS(0) {
				errs[i] = f.encode(groups[i], order[i*groupRows:min(len(order), (i+1)*groupRows)])
			}
		})
	}
	wait.Wait()
	for i, g := range groups {
		if errs[i] == nil {
			_, errs[i] = g.Commit()
		}
		if errs[i] != nil {
			return fmt.Errorf("writing a row group of table %s: %w", f.run.Table.Name, errs[i])
		}
	}
	f.run.Reset()
	return nil
}

// sorted returns the indexes of the rows sorted by name and then by time. Rows arrive
// roughly in order of time.
func (f *File) sorted() []int32 {
	rank, name, start := f.words.order(), f.run.cols[1], f.run.cols[0]
	order := make([]int32, len(start))
	of := func(i int32) int32 { // the rank, 0 for no name
		if name[i] == Null {
			return 0
		}
		return rank[name[i]] + 1
	}
	next := make([]int32, len(rank)+2)
	for i := range order {
		next[of(int32(i))+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	for i := range order {
		r := of(int32(i))
		order[next[r]] = int32(i)
		next[r]++
	}
	for from := 0; from < len(order); {
		to := int(next[of(order[from])])
		part := order[from:to]
		byTime := func(a, b int32) int {
			switch {
			case start[a] < start[b]:
				return -1
			case start[a] > start[b]:
				return 1
			}
			return 0
		}
		if !slices.IsSortedFunc(part, byTime) {
			slices.SortStableFunc(part, byTime)
		}
		from = to
	}
	return order
}

// chunkRows is the number of values of a column encoded at once: they fit into the
// processor's cache.
const chunkRows = 512

// encode writes the rows at those indexes to a row group, column by column.
func (f *File) encode(g *parquet.ConcurrentRowGroupWriter, order []int32) error {
	var chunk [chunkRows]parquet.Value
	for i, w := range g.ColumnWriters() {
		column := &f.run.Table.Columns[f.at[i]]
		for from := 0; from < len(order); from += chunkRows {
			rows := order[from:min(len(order), from+chunkRows)]
			f.fill(chunk[:len(rows)], rows, i, column)
			if _, err := w.WriteRowValues(chunk[:len(rows)]); err != nil {
				return err
			}
		}
	}
	return g.Flush()
}

// fill fills the values of column i of the file. The definition level matters only for
// nullable columns.
func (f *File) fill(values []parquet.Value, order []int32, i int, c *Column) {
	col := f.run.cols[f.at[i]]
	null := parquet.NullValue().Level(0, 0, i)
	last, x := int64(Null), null
	for k, row := range order {
		v := col[row]
		if v == last {
			values[k] = x
			continue
		}
		switch last = v; {
		case c.Null && v == Null:
			x = null
		case c.Type == Word:
			x = f.words.values[v]
		case c.Type == Text:
			x = parquet.ByteArrayValue(f.run.text(v))
		case c.Type == Float:
			x = parquet.DoubleValue(math.Float64frombits(uint64(v)))
		case c.Type == Bool:
			x = parquet.BooleanValue(v != 0)
		default:
			x = parquet.Int64Value(v)
		}
		if c.Null && v != Null {
			x = x.Level(0, 1, i)
		}
		values[k] = x
	}
}

// Close writes the remaining rows and the file's footer.
func (f *File) Close() error {
	if err := f.Flush(); err != nil {
		return err
	}
	if err := f.out.Close(); err != nil {
		return fmt.Errorf("ending a file of table %s: %w", f.run.Table.Name, err)
	}
	return nil
}
