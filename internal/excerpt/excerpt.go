package excerpt

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/snapshot"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// Options of an excerpt.
type Options struct {
	// From and To are the range, in ns from the trace's start; To 0: to its end. Scopes that touch
	// it are in.
	From, To int64
	Reason   string // the fact snapshot_reason
	// Resolve, if not nil, sets From and To by the opened trace.
	Resolve func(o *Options, t *trace.Trace) error
	// Refresh is snapshot.Options.Refresh, for a trace that is being written.
	Refresh func() error
}

// Result describes the excerpt written.
type Result struct {
	Path     string
	From, To int64 // ns from the trace's start
	Records  int64 // in it
	Bytes    int64 // of the file
}

// ErrOutside means that a trace has nothing of a range.
var ErrOutside = analysis.ErrOutside

// Create writes the range of the trace f to a new file at path, and closes f. Of a trace that is
// being written it first makes a snapshot beside path, which it removes.
//
// An existing path, also a symbolic link, is an error that wraps fs.ErrExist. A range that the trace
// does not have is one that wraps ErrOutside. On any error nothing is left at path.
func Create(ctx context.Context, path string, f *hot.File, o Options) (Result, error) {
	name := f.Name()
	still, done, err := settled(ctx, path, f, &o)
	if err != nil {
		return Result{}, err
	}
	defer done()
	t, err := open.Joined(ctx, still)
	if err != nil {
		return Result{}, err
	}
	defer t.Close()
	m, err := newMaker(ctx, still, t, &o)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", show.Name(name), err)
	}
	m.source = filepath.Base(name)
	dst, err := newfile.Create(path)
	if err != nil {
		return Result{}, fmt.Errorf("creating the excerpt: %w; nothing was written", err)
	}
	m.dst = dst
	err = m.run()
	if e := dst.Close(); err == nil && e != nil {
		err = e
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		os.Remove(path)
		return Result{}, fmt.Errorf("writing the excerpt %s: %w; it was removed", path, err)
	}
	return Result{path, m.from, m.to, m.records, m.size()}, nil
}

// settled returns the trace f if nothing writes it, or else a snapshot of it. done removes the
// snapshot. An error closes f.
func settled(ctx context.Context, path string, f *hot.File, o *Options) (still *hot.File, done func(), err error) {
	var head [format.StateOffset + format.StateSize]byte
	n, err := chunks.ReadFull(f, head[:], 0)
	if err == nil {
		_, s, bad := format.DecodeHeader(head[:n])
		alive, known := trace.WriterAlive(f.Trace())
		if bad != nil || s.Closed || known && !alive { // reading it reports what is bad
			return f, func() {}, nil
		}
	}
	defer f.Close()
	if err != nil {
		return nil, nil, err
	}
	defer context.AfterFunc(ctx, func() { f.Close() })() // then copying fails, and cleans up
	temp := newfile.Temporary(path)
	if _, err = snapshot.Create(temp, f, snapshot.Options{Refresh: o.Refresh}); err != nil {
		return nil, nil, cmp.Or(ctx.Err(), err)
	}
	if still, err = hot.Open(temp); err != nil {
		os.Remove(temp)
		return nil, nil, err
	}
	return still, func() { os.Remove(temp) }, nil
}

// maker makes one excerpt.
type maker struct {
	ctx      context.Context
	t        *trace.Trace
	source   string // the trace's name
	reason   string
	header   format.Header
	file     chunks.File
	cs       int64
	ring     bool
	from, to int64 // ns
	begin    int64 // tick of from
	end      int64 // last tick of the trace
	list     []chunk
	buf      []byte

	dst     *os.File
	places  uint32 // chunks of the excerpt so far, chunk 0 included
	numbers numbers
	records int64

	marked      map[format.Loc][]uint64    // by chunk: a bit for each place of a record that is in
	gone        map[goneRecord]bool        // records of a ring's overwritten chunks that are in
	cpu         map[format.Loc]uint64      // word 3 of scopes whose CPU time a part of Go's execution trace has that is not in
	left        map[format.Loc]int64       // ns: likewise, when the goroutines of open scopes ended
	sparse      map[owner]*sparse          // linear: chunks of scopes that began before the range
	starts      map[int64]uint32           // by the start of a record before the range: the last chunk with one
	carried     []format.Carry             // in a ring: those scopes
	moved       []move                     // by the old place: open scopes that are in
	unended     map[format.Loc]unended     // by the new place: scopes of left without an end so far
	ends        map[uint32]*chunks.Builder // chunks of ends apart, by owner
	used        usage
	generations map[generationID]bool // of Go's execution trace that are in
	followed    bool                  // a change of state in one of them was read
	goroutines  map[uint64]*alive     // that exist when the first of them begins
	facts       *states.Facts         // nil: there is no Go execution trace
	foreign     []uint32              // streams of Go's execution trace that are another process's
	lacks       []string
}

// chunk is a chunk of the trace.
type chunk struct {
	trace.Chunk
	loc format.Loc
}

// goneRecord identifies an overwritten record.
type goneRecord struct {
	loc   format.Loc
	start int64 // ns
}

// anyStart is the start of a record of which only the stop is known.
const anyStart = -1

// isGone reports whether an overwritten record is in.
func (m *maker) isGone(loc format.Loc, start int64) bool {
	return m.gone[goneRecord{loc, m.t.Nanos(start)}] || m.gone[goneRecord{loc, anyStart}]
}

// owner identifies the writer of a chunk of records.
type owner struct {
	path  format.Path
	owner uint32
}

// move is a record's place in the trace and in the excerpt.
type move struct {
	from, to format.Loc
	start    int64 // ticks
}

// unended is an open scope whose goroutine has ended.
type unended struct {
	rec  format.Record
	stop int64 // ticks
}

func newMaker(ctx context.Context, f *hot.File, t *trace.Trace, o *Options) (*maker, error) {
	if o.Resolve != nil {
		if err := o.Resolve(o, t); err != nil {
			return nil, err
		}
	}
	sel := analysis.Selection{From: o.From, To: o.To}
	if err := sel.Confine(t); err != nil {
		return nil, err
	}
	if sel.To <= 0 {
		sel.To = max(t.End(), 1)
	}
	switch sel.From = max(sel.From, 0); {
	case sel.From > t.End():
		return nil, fmt.Errorf("%w: it is from 0s to %s, and the range begins at %s", ErrOutside, show.Duration(t.End()), show.Duration(sel.From))
	case sel.From > sel.To:
		return nil, fmt.Errorf("%w: the range begins at %s, and ends before that, at %s", ErrOutside, show.Duration(sel.From), show.Duration(sel.To))
	}
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	h, s := t.Header(), t.State()
	m := &maker{
		ctx: ctx, t: t, reason: o.Reason, header: h, file: chunks.Of(&trace.Reading{File: f, Until: ctx}, size, &h, &s), cs: int64(h.ChunkSize), ring: h.Ring != 0,
		from: sel.From, to: min(sel.To, max(t.End(), 1)), begin: t.Ticks(sel.From), end: t.LastTick(), buf: make([]byte, h.ChunkSize),
		places: 1, marked: map[format.Loc][]uint64{}, gone: map[goneRecord]bool{}, cpu: map[format.Loc]uint64{}, left: map[format.Loc]int64{},
		sparse: map[owner]*sparse{}, unended: map[format.Loc]unended{}, ends: map[uint32]*chunks.Builder{}, starts: map[int64]uint32{},
	}
	for _, c := range t.Chunks() {
		x := chunk{c, format.Loc(c.Offset)}
		if c.Number > 0 {
			x.loc = format.Loc(int64(c.Number) * m.cs)
		}
		m.list = append(m.list, x)
	}
	slices.SortFunc(m.list, func(a, b chunk) int { return cmp.Compare(a.loc, b.loc) })
	m.numbers = numbersOf(m.list)
	return m, nil
}

// run writes the excerpt.
func (m *maker) run() error {
	for _, step := range []func() error{m.planGenerations, m.choose, m.examineBlocks, m.copyRecords, m.copyEnds, m.copyBlocks, m.writeHeader} {
		if err := cmp.Or(m.ctx.Err(), step()); err != nil {
			return cmp.Or(m.ctx.Err(), err)
		}
	}
	return nil
}

func (m *maker) size() int64 { return int64(m.places) * m.cs }

// eachRecords calls f with the chunks of records for which want returns true.
func (m *maker) eachRecords(want func(*chunk) bool, f func(*chunk, *chunks.Chunk) error) error {
	return m.each(m.list, format.ChunkRecords, want, f)
}

func (m *maker) each(list []chunk, kind format.ChunkKind, want func(*chunk) bool, f func(*chunk, *chunks.Chunk) error) error {
	for i := range list {
		x := &list[i]
		if x.Kind != kind || !want(x) {
			continue
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
		c, ok, bad, err := m.file.ReadChunk(m.buf, x.Offset)
		if err != nil {
			return err
		}
		if !ok || bad != nil || c.Kind != kind {
			continue // it was sound when the trace was opened: the file is being changed
		}
		if err := f(x, &c); err != nil {
			return err
		}
	}
	return nil
}

// take returns a new chunk at the next place.
func (m *maker) take(h format.ChunkHeader) *chunks.Builder {
	h.Index, h.Flags = m.places, h.Flags|format.FlagFinal
	m.places++
	return chunks.NewBuilder(int(m.cs), h)
}

// put writes a chunk.
func (m *maker) put(b *chunks.Builder) error {
	_, err := newfile.WriteAt(m.dst, b.Build(), int64(b.Head.Index)*m.cs)
	return err
}

// numbered sets the number of a new chunk of a ring.
func (m *maker) numbered(h *format.ChunkHeader) {
	if h.Gen = 1; m.ring {
		h.Number, h.Gen = m.numbers.next()
	}
}

// numbers are those of a ring's chunks.
type numbers struct {
	used   map[uint32]bool
	gen    uint32
	latest uint32
	count  uint32 // of chunks with numbers
}

func numbersOf(list []chunk) numbers {
	n := numbers{used: map[uint32]bool{}, gen: 1}
	for i := range list {
		n.used[list[i].Number] = true
		n.latest = max(n.latest, list[i].Number)
	}
	return n
}

// next returns a number that no chunk of the trace has: no end of a record can name it.
func (n *numbers) next() (number, gen uint32) {
	for {
		if n.latest++; n.latest > format.RingNumbers {
			n.latest = 1
			n.gen++
		}
		if !n.used[n.latest] {
			n.used[n.latest] = true
			n.count++
			return n.latest, n.gen
		}
	}
}

// infos are the info blocks of an excerpt.
func (m *maker) infos() [][2]string {
	made := time.Now().UTC().Format(time.RFC3339) + " of " + m.source
	list := [][2]string{
		{"snapshot", made}, {"snapshot_reason", cmp.Or(m.reason, "a range was copied")},
		{trace.FactExcerptFrom, strconv.FormatInt(m.from, 10)}, {trace.FactExcerptTo, strconv.FormatInt(m.to, 10)},
	}
	if lacks := strings.Join(m.lacks, "; "); lacks != "" {
		list = append(list, [2]string{trace.FactExcerptLacks, lacks[:min(len(lacks), m.share(format.MaxMemberText))]})
	}
	return list
}

// findLacks notes what the trace lacks: all of it was read as far as it is needed.
func (m *maker) findLacks() {
	if had := m.t.Lookup(trace.FactExcerptLacks); had != "" {
		m.lacks = append(m.lacks, had)
	}
	for _, p := range analysis.Damage(m.t.Problems()) {
		m.lacks = append(m.lacks, analysis.ProblemText(&p))
	}
	if until, all := m.t.LossesUntil(); !all && until < m.to && !m.t.Miscounted() {
		m.lacks = append(m.lacks, analysis.UnknownLosses(m.t))
	}
	if last, ok := m.t.LastBeat(); !m.t.Closed() && (!ok || last.Time < m.to) {
		m.lacks = append(m.lacks, "it was not closed, so what was counted since the last heartbeat is missing")
	}
	if cool := analysis.CoolLine(m.t); cool != "" {
		m.lacks = append(m.lacks, cool)
	}
}

// writeHeader writes chunk 0: the trace's, with a final state.
func (m *maker) writeHeader() error {
	h, s := m.header, m.t.State()
	h.Segments = 0
	if m.ring {
		h.Ring = max(h.Ring, m.numbers.count)
	}
	b := make([]byte, m.cs)
	format.AppendHeader(b[:0], &h)
	over := m.t.Overwritten()
	format.PutState(b[format.StateOffset:], &format.State{
		Closed: true, Tick: m.end, End: m.size(), Lost: s.Lost, Overwritten: max(s.Overwritten, over.Records), Until: s.Until,
	})
	if h.HasCounters() {
		var lost [format.CounterReasons + 1]int64
		rows := make([]byte, m.cs-format.CountersOffset)
		if _, err := m.file.Read(rows, format.CountersOffset); err != nil {
			return err
		}
		ok := format.AddCounters(&lost, rows, format.MostCounted(m.end-h.StartTicks))
		format.PutCounters(b[format.CountersOffset:], &lost, ok)
	}
	_, err := newfile.WriteAt(m.dst, b, 0)
	return err
}
