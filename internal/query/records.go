package query

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite/vtab"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// record is a row of a record.
type record struct {
	start, dur, cpu int64
	goid            uint64
	a, b            uint64 // counters: the value's bits; processes: user, system; waits and holds: holder, lock's word
	thread          uint32
	depth           int32
	args, argsEnd   uint32 // in the batch's text
	name, track     uint16
	kind            format.Kind
	quality         format.Quality
	valueType       format.SlotType
	open            bool
	noDur           bool // across a step of the clock
	known           bool // a and b are
}

const recordBytes = 88

// records is a batch of records.
type records struct {
	fields []field
	names  *nameValues
	list   []record
	text   []byte // of arguments
	until  int64  // end of its part of the trace
}

// nameValues caches the values of names, for SQLite's goroutine.
type nameValues struct {
	of   func(id uint16) string
	list []vtab.Value
}

func (n *nameValues) value(id uint16) vtab.Value {
	for int(id) >= len(n.list) {
		n.list = append(n.list, nil)
	}
	if n.list[id] == nil {
		n.list[id] = args.Valid(n.of(id))
	}
	return n.list[id]
}

// kindValues are the values of kinds.
var kindValues = func() (values [128]vtab.Value) {
	for _, s := range format.Specs {
		values[s.Kind] = s.CSV
	}
	return values
}()

func (b *records) rows() int          { return len(b.list) }
func (b *records) time(row int) int64 { return b.list[row].start }
func (b *records) size() int          { return recordBytes*cap(b.list) + cap(b.text) }

// integer returns v, or NULL unless it is known.
func integer(v int64, known bool) vtab.Value {
	if !known {
		return nil
	}
	return v
}

func (b *records) value(row, column int) vtab.Value {
	r := &b.list[row]
	switch b.fields[column] {
	case fieldKind:
		return kindValues[r.kind&127]
	case fieldName:
		return b.names.value(r.name)
	case fieldTrack:
		if r.track != format.NameEmpty {
			return b.names.value(r.track)
		}
	case fieldGoroutine:
		return integer(int64(r.goid), r.goid != 0)
	case fieldThread:
		return integer(int64(r.thread), r.thread != 0)
	case fieldDepth:
		return int64(r.depth)
	case fieldStart:
		return r.start
	case fieldDur:
		return integer(r.dur, !r.noDur)
	case fieldCPU:
		return integer(r.cpu, !r.open && (r.quality == format.Exact || r.quality == format.Likely))
	case fieldCPUMax:
		return integer(r.cpu, !r.open && r.quality == format.AtMost)
	case fieldOpen:
		return r.open
	case fieldValue:
		return numberOf(r.valueType, r.a)
	case fieldUser:
		return integer(int64(r.a), r.known)
	case fieldSystem:
		return integer(int64(r.b), r.known)
	case fieldLock:
		if kind, _ := format.LockOf(r.b); r.known {
			return format.LockKindNames[kind]
		}
	case fieldMode:
		if _, mode := format.LockOf(r.b); r.known && mode == format.LockShared {
			return "shared"
		}
	case fieldHolder:
		return integer(int64(r.a), r.known && r.a != 0)
	case fieldArgs:
		if r.argsEnd > r.args {
			return string(b.text[r.args:r.argsEnd])
		}
	}
	return nil
}

// numberOf returns the value of a counter. SQLite has no unsigned integers, and takes NaN for NULL.
func numberOf(t format.SlotType, bits uint64) vtab.Value {
	switch {
	case t == format.SlotFloat:
		return math.Float64frombits(bits)
	case t == format.SlotUint && bits > math.MaxInt64:
		return float64(bits)
	}
	return int64(bits)
}

// number returns the value of a column of integers that conditions can be about.
func (r *record) number(f field) (v int64, known bool) {
	switch f {
	case fieldStart:
		return r.start, true
	case fieldDur:
		return r.dur, !r.noDur
	case fieldGoroutine:
		return int64(r.goid), r.goid != 0
	case fieldThread:
		return int64(r.thread), r.thread != 0
	}
	return 0, false
}

// tested reports whether scans test bounds of a field.
func (f field) tested() bool {
	return f == fieldStart || f == fieldDur || f == fieldGoroutine || f == fieldThread
}

func (b *records) passes(row int, where *conditions) bool {
	r := &b.list[row]
	if !r.within(b.fields, where) {
		return false
	}
	for i := range where.equal {
		e := &where.equal[i]
		if b.fields[e.column] == fieldName && !e.is(b.names.value(r.name).(string)) {
			return false
		}
	}
	return true
}

// within reports whether a record is within the bounds of the conditions.
func (r *record) within(fields []field, where *conditions) bool {
	for i := range where.ranges {
		x := &where.ranges[i]
		if f := fields[x.column]; f.tested() {
			if v, known := r.number(f); !known || v < x.from || v > x.to {
				return false
			}
		}
	}
	return true
}

// needs are the fields that a scan of records needs.
type needs struct{ all, track, depth, end, args, lock bool }

func (s *scan) needs() (n needs) {
	n.all = true
	for i, f := range s.fields {
		if !s.where.uses(i) {
			continue
		}
		switch f {
		case fieldKind, fieldName, fieldOpen:
		default:
			n.all = false
		}
		n.track = n.track || f == fieldTrack
		n.depth = n.depth || f == fieldDepth
		n.end = n.end || f == fieldDur || f == fieldCPU || f == fieldCPUMax || f == fieldOpen || f == fieldArgs
		n.args = n.args || f == fieldArgs
		n.lock = n.lock || f == fieldLock || f == fieldMode || f == fieldHolder
	}
	n.track = n.track || !s.q.sel.Tracks.All()
	return n
}

// options returns how records are read: only as much as is used.
func (s *scan) options(n needs) trace.Options {
	o := s.q.sel.Range()
	o.AsRecorded = !n.end // otherwise the Go execution trace is read first
	from, to := s.where.within(s.time)
	switch {
	case n.depth:
	case n.track:
		o.Detail = trace.Tracks
	case n.all && len(s.where.ranges) == 0:
		o.Detail = trace.Counts
	default:
		o.Detail = trace.Rowless
	}
	if from > o.From && (o.To == 0 || from <= o.To) {
		o.From = from // scopes that lie across it are left out by the test of each
		o.Within = o.Detail >= trace.Rowless
	}
	if to > 0 && to < math.MaxInt64 && (o.To == 0 || to < o.To) {
		o.To = to
	}
	return o
}

// records reads records.
func (s *scan) records() {
	n, t := s.needs(), s.q.t
	var stopped atomic.Bool
	unused := sync.Pool{New: func() any { return &records{fields: s.fields, names: s.q.names} }}
	err := trace.EachPart(t, s.options(n), func() func(*trace.Part) *records {
		w := &recordReader{s: s, n: n, stopped: &stopped, choice: s.q.sel.Choice(t), breaks: t.Breaks(), lister: args.NewLister(t.Name)}
		for _, k := range s.kinds {
			w.kinds[k&127] = true
		}
		return func(x *trace.Part) *records {
			b := unused.Get().(*records)
			w.read(b, x)
			return b
		}
	}, func(b *records) bool {
		if s.q.sel.Progress != nil {
			s.q.sel.Progress(b.until)
		}
		if len(b.list) > 0 {
			s.put(b)
		} else if s.q.ctx.Err() != nil {
			s.over = true
		}
		if !s.keep {
			unused.Put(b)
		}
		stopped.Store(s.over)
		return !s.over
	})
	s.q.failed(err)
}

// recordReader makes the batches of one of the goroutines that read.
type recordReader struct {
	s       *scan
	n       needs
	stopped *atomic.Bool
	kinds   [128]bool
	choice  *analysis.Choice
	breaks  analysis.Breaks
	lister  *args.Lister
	names   []verdict // by id: of the conditions about names
}

// verdict is whether a name passes; 0: not tested yet.
type verdict uint8

const (
	passes verdict = iota + 1
	fails
)

// read makes the batch of a part.
func (w *recordReader) read(b *records, x *trace.Part) {
	b.list, b.text = b.list[:0], b.text[:0]
	b.until, _ = x.Until()
	all, equal, bounded := w.choice.All(), len(w.s.where.equal) > 0, len(w.s.where.ranges) > 0
	x.Events(func(e *trace.Event) bool {
		if !w.kinds[e.Kind&127] || equal && !w.named(e) || !all && !w.choice.Keep(e) {
			return true
		}
		b.list = append(b.list, record{
			start: e.Start, dur: e.Dur, cpu: e.CPU, goid: e.Goid, thread: e.Thread, depth: e.Depth,
			name: e.Name, track: e.Track, kind: e.Kind, quality: e.Quality, valueType: e.ValueType, open: e.Open,
		})
		r := &b.list[len(b.list)-1]
		r.noDur = len(w.breaks) > 0 && w.breaks.Across(e)
		if bounded && !r.within(b.fields, w.s.where) {
			b.list = b.list[:len(b.list)-1]
			return true
		}
		w.complete(r, b, e)
		return len(b.list)%1024 != 0 || !w.stopped.Load()
	})
}

// complete adds to a record what some kinds have.
func (w *recordReader) complete(r *record, b *records, e *trace.Event) {
	switch e.Kind {
	case format.KindCounter:
		r.a = e.Value
	case format.KindProcess:
		r.known = e.User >= 0 && e.System >= 0 && !e.Open
		r.a, r.b = uint64(e.User), uint64(e.System)
	case format.KindWait, format.KindHold:
		if s := e.Args; w.n.lock && len(s) >= 3 && s[0].Type == format.SlotAddr && s[1].Type == format.SlotGoid && s[2].Type == format.SlotUint {
			r.known, r.a, r.b = true, s[1].Value, s[2].Value
		}
	}
	if w.n.args {
		r.args = uint32(len(b.text))
		b.text = args.AppendJSON(b.text, w.lister.List(e))
		r.argsEnd = uint32(len(b.text))
	}
}

// named reports whether an event's name may pass the conditions about names.
func (w *recordReader) named(e *trace.Event) bool {
	if int(e.Name) >= len(w.names) {
		w.names = append(w.names, slices.Repeat([]verdict{0}, int(e.Name)+1-len(w.names))...)
	}
	v := &w.names[e.Name]
	if *v == 0 {
		*v = passes
		for i := range w.s.where.equal {
			c := &w.s.where.equal[i]
			if w.s.fields[c.column] == fieldName && !c.is(args.Valid(w.s.q.t.Name(e.Name))) {
				*v = fails
			}
		}
	}
	return *v == passes && w.ofKind(e.Kind)
}

// ofKind reports whether a kind may pass the conditions about kinds.
func (w *recordReader) ofKind(k format.Kind) bool {
	for i := range w.s.where.equal {
		c := &w.s.where.equal[i]
		if w.s.fields[c.column] == fieldKind && !c.is(kindValues[k&127].(string)) {
			return false
		}
	}
	return true
}
