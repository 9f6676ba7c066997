package snapshot

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// Options of a snapshot.
type Options struct {
	// Now is the present in the trace's ticks. The snapshot's moment is Now, or the latest time
	// found in the trace if that is later or Now is 0.
	Now int64
	// Refresh writes the trace's writer's memory to the file, or waits until that is done. It is
	// called first, and after the records were read that may still change. It is called only where
	// the file is a copy: the heap backing, or shm without its hot file. Without it the snapshot is
	// of the file's contents, and a name, or a scope that has ended already, may be missing.
	Refresh func() error
	// Facts are written to the snapshot as info blocks, behind the fact "snapshot", which has the
	// time of the copy and the file's name.
	Facts []Fact
	// Blocks, if not nil, is called once with a function that appends a block, behind those of the
	// trace: it can add data to a finished recording. They may lie in chunks of their own, which a
	// ring keeps; Room is the number of bytes that those take. A block that does not fit into a chunk is left
	// out.
	Blocks func(add func(t format.BlockType, payload []byte) error) error
	Room   int64
}

// Fact is a fact about the snapshot, such as its trigger.
type Fact struct{ Key, Value string }

// Result describes the snapshot written.
type Result struct {
	Path        string
	Bytes       int64 // bytes of the new file
	Chunks      int   // in it, without the header
	Overwritten int64 // records missing because the ring overwrote them
	Missed      int   // chunks that were overwritten before they could be copied
}

// Create writes the present contents of the trace in src to a new file at path: an ordinary, closed
// trace, whose chunks have the places they have in src. src is only read, at offsets: others may
// read and write it meanwhile.
//
// An existing path, also a symbolic link, is an error that wraps fs.ErrExist. On any error nothing
// is left at path.
func Create(path string, src Source, o Options) (Result, error) { return create(path, src, o) }

// Source is the part of *os.File that a snapshot needs.
type Source interface {
	io.ReaderAt
	Name() string
	Stat() (fs.FileInfo, error)
}

func create(path string, src Source, o Options) (res Result, err error) {
	c, err := newCopier(src, o) // before creating a file that would have to be removed
	if err != nil {
		return Result{}, err
	}
	c.dst, err = newfile.Create(path)
	if err != nil {
		return Result{}, fmt.Errorf("creating the snapshot: %w; nothing was written", err)
	}
	defer func() {
		if e := c.dst.Close(); err == nil && e != nil {
			err = fmt.Errorf("writing the snapshot: %w", e)
		}
		if err != nil {
			os.Remove(path)
			res = Result{}
		}
	}()
	for left := outrunMax; ; left-- {
		if err := c.run(); err != nil {
			return Result{}, fmt.Errorf("writing the snapshot %s: %w; it was removed", path, err)
		}
		if left == 0 || !c.outrun() {
			return c.result(path), nil
		}
		if c, err = c.again(); err != nil {
			return Result{}, fmt.Errorf("writing the snapshot %s: %w; it was removed", path, err)
		}
	}
}

// outrunMax is the largest number of times that a snapshot is restarted.
const outrunMax = 3

// outrun reports whether the writer went around its whole ring between the moment and the copying:
// then nothing of the moment is left. It takes a small ring, and a busy processor at the wrong
// time.
func (c *copier) outrun() bool {
	if !c.ring || c.missed+c.later == 0 {
		return false
	}
	for i := range c.chunks {
		if k := &c.chunks[i]; k.is == copied && k.Kind == format.ChunkRecords && !k.kept {
			return false
		}
	}
	return true
}

// again returns a copier that starts anew, with an empty file, and a moment that is found in the
// trace.
func (c *copier) again() (*copier, error) {
	o := c.options
	o.Now = 0
	next, err := newCopier(c.src, o)
	if err != nil {
		return nil, err
	}
	next.dst = c.dst
	return next, c.dst.Truncate(0)
}

// copier makes one snapshot.
type copier struct {
	src     Source
	dst     *os.File
	options Options
	header  format.Header
	cs      int64 // chunk size
	ring    bool

	chunks     []chunk          // by place, chunk 1 first
	newest     uint64           // of a ring: later chunks are not the snapshot's
	live       map[uint32]int32 // of a ring: places of the live chunks of records, by number
	born       []bornChunk
	state      format.State // at the snapshot's moment
	moment     int64        // ticks
	cut        int64        // ticks: records that begin later are not the snapshot's
	settled    []int64      // by place, of the chunks that were final then: since when
	tick, lost int64        // of the state at that time
	counters   [format.CounterReasons + 1]int64
	miscounted bool

	first, second []byte      // two readings of a chunk
	wanted        map[int]int // begins beyond the cuts: their place in the chunk, by the chunk's place
	missing       map[int]int // those that were not found
	retryUntil    time.Time

	overwritten, until int64
	written, missed    int
	later              int // chunks found that are not the snapshot's
	size               int64
}

// newCopier reads the header of the trace.
func newCopier(src Source, o Options) (*copier, error) {
	c := &copier{src: src, options: o, retryUntil: time.Now().Add(patience), wanted: map[int]int{}, missing: map[int]int{}}
	var b [format.StateOffset + format.StateSize]byte
	n, err := chunks.ReadFull(src, b[:], 0)
	if err != nil {
		return nil, fmt.Errorf("reading the trace %s: %w", src.Name(), err)
	}
	if c.header, c.state, err = format.DecodeHeader(b[:n]); err != nil {
		return nil, fmt.Errorf("copying the trace %s: reading its header: %w", src.Name(), err)
	}
	if c.header.Within(0) != nil { // else the size does not matter
		st, err := src.Stat()
		if err == nil {
			err = c.header.Within(st.Size())
		}
		if err != nil {
			return nil, fmt.Errorf("copying the trace %s: %w", src.Name(), err)
		}
	}
	c.cs = int64(c.header.ChunkSize)
	c.ring = c.header.Ring != 0
	c.first, c.second = make([]byte, c.cs), make([]byte, c.cs)
	return c, nil
}

// steps returns the steps of the package's comment, in order.
func (c *copier) steps() []func() error {
	return []func() error{c.refreshFirst, c.findCut, c.index, c.room, c.liveRecords, c.refresh, c.findMoment, c.finals, c.account, c.blocks, c.writeHeader}
}

func (c *copier) run() error {
	for _, step := range c.steps() {
		if err := step(); err != nil {
			return err
		}
		testpoint.Here("snapshot.step")
	}
	return nil
}

func (c *copier) result(path string) Result {
	return Result{Path: path, Bytes: c.size, Chunks: c.written, Overwritten: c.overwritten, Missed: c.missed}
}

// readState reads the words of the header that change.
func (c *copier) readState() (format.State, error) {
	var b [format.StateSize]byte
	if _, err := chunks.ReadFull(c.src, b[:], format.StateOffset); err != nil {
		return format.State{}, c.readError(0, err)
	}
	return format.DecodeState(b[:]), nil
}

func (c *copier) readError(off int64, err error) error {
	return fmt.Errorf("reading %s at offset %d: %w", c.src.Name(), off, err)
}

// writeChunk writes b, a chunk, to the place at.
func (c *copier) writeChunk(b []byte, at int) error {
	_, err := newfile.WriteAt(c.dst, b, int64(at)*c.cs)
	return err
}
