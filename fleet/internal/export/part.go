package export

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/scopeview/scopeview/fleet/internal/histogram"
	"github.com/scopeview/scopeview/fleet/internal/tables"
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Tables of records, by their index in part.
const (
	ofScopes = iota
	ofEvents
	ofCounters
	ofWaits
	ofHolds
	ofRecords // number of them
)

var recordTables = [ofRecords]*tables.Table{tables.Scopes, tables.Events, tables.Counters, tables.Waits, tables.Holds}

// Columns of the tables of locks for the scopes around waits and holds, and around their
// holders.
const (
	withinColumn = 8
	holderColumn = 9
	holderWithin = 10
)

// part has the rows of a part of a trace.
type part struct {
	rows  [ofRecords]*tables.Batch
	sums  map[sumKey]*sum
	until int64
	last  bool
	// Of locks: the scopes that continue after the part, and the rows whose scope began
	// before it.
	going  []openScope
	before []lockRow
}

// openScope is an open scope of a goroutine, or a hold of a lock.
type openScope struct {
	of    uint64 // the goroutine; of a hold the lock: heldBit and its address
	depth int32
	end   int64
	word  int64  // name of the scope; of a hold that of the enclosing scope, or of the row
	goid  uint64 // goroutine
}

// heldBit distinguishes holds from scopes.
const heldBit = 1 << 63

// lockRow is a row of waits or holds with a scope that is not known yet.
type lockRow struct {
	table, row, column int

	of    uint64 // as in openScope
	depth int32
	start int64
}

// reader builds the rows of parts; each goroutine has one.
type reader struct {
	x      *export
	breaks analysis.Breaks
	args   *args.Lister
	json   []byte
	names  int  // number of names
	locks  bool // there are locks, so that enclosing scopes are needed
	around map[uint64][]openScope
	cached *sum
	key    sumKey
}

func (x *export) newReader(locks bool) *reader {
	return &reader{x: x, names: len(x.t.Names()), breaks: x.t.Breaks(), args: args.NewLister(x.t.Name), locks: locks, around: map[uint64][]openScope{}}
}

// Words in rows: kinds, qualities, the word for a lost name, and from firstName on the
// trace's names by id.
const (
	kindWords    = iota * 16 // of format.Kind
	qualityWords             // of format.Quality
	lostName     = 31
	firstName    = 32
)

// wordsOf returns the words of a trace.
func wordsOf(t *trace.Trace) *tables.Words {
	names := t.Names()
	list := make([]string, firstName+len(names))
	for _, s := range format.Specs {
		if s.Kind < 16 {
			list[kindWords+int(s.Kind)] = s.CSV
		}
	}
	for q := range format.Quality(4) {
		list[qualityWords+int(q)] = strings.ReplaceAll(q.String(), " ", "_")
	}
	list[lostName] = "(lost name)"
	for id := range names {
		list[firstName+id] = clean(t.Name(uint16(id)))
	}
	return tables.NewWords(list)
}

// name returns the word of a name.
func (r *reader) name(id uint16) int64 {
	if int(id) >= r.names {
		return lostName
	}
	return firstName + int64(id)
}

func (r *reader) orNull(id uint16) int64 {
	if id == format.NameEmpty {
		return tables.Null
	}
	return r.name(id)
}

func known(n int64) int64 {
	if n == 0 {
		return tables.Null
	}
	return n
}

// clean returns a text that engines can read: UTF-8 without zero bytes.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return args.Valid(s)
}

// read builds the rows of a part.
func (r *reader) read(p *part, in *trace.Part) {
	for i, t := range recordTables {
		if p.rows[i] == nil {
			p.rows[i] = tables.NewBatch(t)
		}
		p.rows[i].Reset()
	}
	p.sums, r.cached = map[sumKey]*sum{}, nil
	p.going, p.before = p.going[:0], p.before[:0]
	clear(r.around)
	p.until, p.last = in.Until()
	in.Events(func(e *trace.Event) bool {
		r.add(p, e)
		return true
	})
	for _, list := range r.around {
		for _, f := range list {
			if f.end >= p.until {
				p.going = append(p.going, f)
			}
		}
	}
}

func (r *reader) add(p *part, e *trace.Event) {
	x := r.x
	at, end := x.base+e.Start, e.Start+e.Dur
	if r.locks && (e.Kind == format.KindTask || e.Kind == format.KindTaskf || e.Kind == format.KindProcess) {
		r.begin(e, end)
	}
	if len(x.cover) > 0 && !e.Open && x.covered(e.Start, end) {
		return
	}
	track, goid, thread := r.orNull(e.Track), known(int64(e.Goid)), known(int64(e.Thread))
	build, pod := x.whose[0], x.whose[1]
	took := e.Dur
	if len(r.breaks) > 0 && r.breaks.Across(e) {
		took = tables.Null
	}
	open := flag(e.Open)
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess:
		b := p.rows[ofScopes]
		cpu, quality := e.CPU, e.Quality
		if e.Open {
			quality = format.Unknown
		}
		if quality == format.Unknown {
			cpu = tables.Null
		}
		id, span, parent := r.link(b, e)
		kind := int64(kindWords + int(e.Kind))
		weight := r.weight(e.Name)
		b.Add(at, r.name(e.Name), took, cpu, qualityWords+int64(quality), track, goid, thread, int64(e.Depth),
			open, kind, id, span, parent, b.Bytes(r.arguments(e)), build, pod, weight)
		r.count(p, e, at, took, kind, weight)
	case format.KindEvent, format.KindPending:
		b := p.rows[ofEvents]
		id, span, parent := r.link(b, e)
		b.Add(at, r.name(e.Name), track, goid, thread, int64(e.Depth), open, id, span, parent, b.Bytes(r.arguments(e)), build, pod, r.weight(e.Name))
	case format.KindCounter:
		p.rows[ofCounters].Add(at, r.name(e.Name), int64(math.Float64bits(counted(e))), track, goid, thread, int64(e.Depth), build, pod)
	case format.KindWait, format.KindHold:
		r.lock(p, e, at, took, open, track, goid, thread, build, pod)
	}
}

// lock adds a row of the tables waits or holds.
func (r *reader) lock(p *part, e *trace.Event, at, took, open, track, goid, thread, build, pod int64) {
	table, weight := ofHolds, r.weight(e.Name)
	if e.Kind == format.KindWait {
		table = ofWaits
	}
	var addr uint64
	holder := int64(tables.Null)
	for _, a := range r.args.List(e) {
		switch a.Key {
		case "addr":
			addr = a.Value.Value
		case "holder":
			holder = int64(a.Value.Value)
		}
	}
	b := p.rows[table]
	in := r.within(p, lockRow{table, b.Len(), withinColumn, e.Goid, e.Depth, e.Start}).word
	if table == ofHolds {
		r.push(openScope{heldBit | addr, 0, e.Start + e.Dur, either(in, track), e.Goid}, e.Start)
		b.Add(at, r.name(e.Name), took, track, goid, thread, int64(e.Depth), open, in, b.Bytes(r.arguments(e)), build, pod, weight)
	} else {
		// The holder when the wait began, and its scope at that time.
		whose := lockRow{table, b.Len(), holderWithin, heldBit | addr, math.MaxInt32, e.Start}
		if holder != tables.Null {
			whose.of = uint64(holder)
		}
		f := r.within(p, whose)
		if holder == tables.Null && f.goid != 0 {
			holder = int64(f.goid)
		}
		b.Add(at, r.name(e.Name), took, track, goid, thread, int64(e.Depth), open, in, holder, f.word, b.Bytes(r.arguments(e)), build, pod, weight)
	}
	r.count(p, e, at, took, int64(kindWords+int(e.Kind)), weight)
}

// begin records the begin of a scope.
func (r *reader) begin(e *trace.Event, end int64) {
	r.push(openScope{e.Goid, e.Depth, end, r.name(e.Name), e.Goid}, e.Start)
}

// push adds a scope or a hold that begins at a time, and removes those that have ended by
// then.
func (r *reader) push(f openScope, at int64) {
	list := r.around[f.of]
	for len(list) > 0 && (list[len(list)-1].depth >= f.depth || list[len(list)-1].end < at) {
		list = list[:len(list)-1]
	}
	r.around[f.of] = append(list, f)
}

// within returns the innermost scope of a goroutine at a time, above a depth, or the holder
// of a lock. If it began before the part, it is resolved later.
func (r *reader) within(p *part, l lockRow) openScope {
	if l.depth > 0 {
		if f, ok := innermost(r.around[l.of], l); ok {
			return f
		}
		p.before = append(p.before, l)
	}
	return openScope{word: tables.Null}
}

func innermost(list []openScope, l lockRow) (openScope, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if f := list[i]; f.depth < l.depth && f.end >= l.start {
			return f, true
		}
	}
	return openScope{}, false
}

// either returns the first known one of two words.
func either(a, b int64) int64 {
	if a == tables.Null {
		return b
	}
	return a
}

// link returns the ids of an event.
func (r *reader) link(b *tables.Batch, e *trace.Event) (id, span, parent int64) {
	id, span, parent = tables.Null, tables.Null, tables.Null
	if e.Args == nil && e.EndArgs == nil {
		return
	}
	l, ok := e.Link()
	if !ok {
		return
	}
	id = b.Hex(l.Trace[:])
	if l.Span != [8]byte{} {
		span = b.Hex(l.Span[:])
	}
	if l.Parent != [8]byte{} {
		parent = b.Hex(l.Parent[:])
	}
	return
}

// arguments returns an event's arguments as a JSON object, without the ids that have columns.
func (r *reader) arguments(e *trace.Event) []byte {
	if e.Args == nil && e.EndArgs == nil && e.Kind == format.KindTask {
		return nil
	}
	list := r.args.List(e)
	kept := list[:0]
	for _, a := range list {
		switch a.Key {
		case "trace_id", "span_id", "parent_id", "holder":
			continue
		}
		kept = append(kept, a)
	}
	if len(kept) == 0 {
		return nil
	}
	r.json = args.AppendJSON(r.json[:0], kept)
	return r.json
}

// weight returns the number of calls that a recorded call of a function represents: calls of
// expensive functions are counted and not recorded.
func (r *reader) weight(name uint16) int64 {
	if w, ok := r.x.weights[name]; ok {
		return w
	}
	return one
}

// one is the weight of a fully recorded function.
var one = int64(math.Float64bits(1))

func counted(e *trace.Event) float64 {
	switch e.ValueType {
	case format.SlotFloat:
		return math.Float64frombits(e.Value)
	case format.SlotUint:
		return float64(e.Value)
	}
	return float64(int64(e.Value))
}

// sumKey is the key of a histogram: minute, kind and name.
type sumKey struct{ minute, kind, name int64 }

// sum is a histogram.
type sum struct {
	n      histogram.Counts
	took   int64
	weight int64
}

const minute = 60 * int64(1e9)

// count adds an ended scope to its histogram.
func (r *reader) count(p *part, e *trace.Event, at, took, kind, weight int64) {
	if e.Open || took == tables.Null {
		return
	}
	k := sumKey{at - at%minute, kind, r.name(e.Name)}
	if r.cached == nil || r.key != k {
		s := p.sums[k]
		if s == nil {
			s = &sum{weight: weight}
			p.sums[k] = s
		}
		r.cached, r.key = s, k
	}
	r.cached.n.Add(histogram.Bucket(took), 1)
	r.cached.took += took
}
