package otlp

import (
	"container/heap"
	"context"
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Write passes the scopes of t that o selects to send, in requests of bounded size. It stops
// with ctx's error once ctx is done.
func Write(ctx context.Context, t *trace.Trace, o Options, send Send) (Sum, error) {
	w := &writer{
		t: t, o: o, send: send, choice: o.Choice(t), breaks: t.Breaks(), lister: args.NewLister(t.Name),
		seed: seedOf(t), rows: map[uint64]*span{}, open: map[[8]byte]*span{}, parts: map[uint32]*part{},
	}
	watch := o.Watch()
	all := o.Range()
	all.Detail = trace.Tracks
	var failed error
	err := t.Events(all, func(e *trace.Event) bool {
		if failed = watch.Look(ctx, e.Start); failed == nil {
			failed = w.event(e)
		}
		return failed == nil
	})
	if failed == nil {
		failed = w.finish()
	}
	if failed != nil {
		return w.sum, fmt.Errorf("exporting spans: %w", failed)
	}
	return w.sum, err
}

type writer struct {
	t      *trace.Trace
	o      Options
	send   Send
	choice *analysis.Choice
	breaks analysis.Breaks
	lister *args.Lister
	seed   seed
	sum    Sum

	rows    map[uint64]*span  // innermost scope of each goroutine
	prune   int               // number of rows from which those without a running scope are dropped
	open    map[[8]byte]*span // by id
	waiting spans             // the open ones, by end

	parts   map[uint32]*part // of the next request, by process number; 0: a single process
	used    []*part          // parts that have spans
	n, size int              // number and bytes of the spans
}

// part is one process's part of a request.
type part struct {
	head  []byte // its resource
	spans []byte
}

// span is a scope. There can be as many as records, on rows without further events: so its
// content is separate, and freed once written.
type span struct {
	link  format.Link
	end   int64
	outer *span    // of the scopes on its row that end later, the innermost
	text  *content // nil: written
}

// content is the text of a span; events may still be added.
type content struct {
	part    *part
	b       []byte // JSON up to the events
	events  []byte // JSON of the events
	failed  []byte // event of the error that it ended with; nil: none
	n       int
	dropped int
}

func (w *writer) event(e *trace.Event) error {
	for len(w.waiting) > 0 && w.waiting[0].end < e.Start {
		if err := w.over(heap.Pop(&w.waiting).(*span)); err != nil {
			return err
		}
	}
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold:
		link, linked := e.Link()
		if w.choice.Keep(e) && (linked || w.o.Unlinked) {
			return w.begin(e, link, linked)
		}
	case format.KindEvent, format.KindPending:
		if s := w.around(e); s != nil {
			w.instant(s, e)
		}
	}
	return nil
}

// running returns the innermost scope of s and its outer ones that has not ended by now, or
// nil.
func (s *span) running(now int64) *span {
	for s != nil && s.end <= now {
		s = s.outer
	}
	return s
}

// enclosing returns the innermost scope of s and its outer ones that ends at end or later,
// or nil.
func (s *span) enclosing(end int64) *span {
	for s != nil && s.end < end {
		s = s.outer
	}
	return s
}

// rowOf returns the innermost scope that runs on the row of e, or nil. It drops those that
// have ended: no later event needs them, as events come in the order of their starts.
func (w *writer) rowOf(e *trace.Event) *span {
	k := rows.KeyOf(e)
	s := w.rows[k]
	if s == nil {
		return nil
	}
	s = s.running(e.Start)
	if s == nil {
		delete(w.rows, k)
	} else {
		w.rows[k] = s
	}
	return s
}

// put makes s the innermost scope of its row, and drops rows on which nothing runs. It also
// drops outer scopes that end before s, which are never needed again: otherwise scopes that
// end in the order in which they began would take quadratic time.
func (w *writer) put(e *trace.Event, s *span) {
	s.outer = s.outer.running(s.end)
	if len(w.rows) >= w.prune {
		for k, s := range w.rows {
			if s.running(e.Start) == nil {
				delete(w.rows, k)
			}
		}
		w.prune = 2*len(w.rows) + 1000
	}
	w.rows[rows.KeyOf(e)] = s
}

func (w *writer) begin(e *trace.Event, link format.Link, linked bool) error {
	s := &span{end: e.Start + e.Dur, link: link, outer: w.rowOf(e)}
	if !linked {
		s.link.Trace = w.seed.trace(e.Loc)
		if in := s.outer.enclosing(s.end); in != nil {
			s.link.Trace, s.link.Parent = in.link.Trace, in.link.Span
		}
	}
	if s.link.Span == [8]byte{} {
		s.link.Span = w.seed.span(e.Loc)
	}
	s.text = &content{part: w.partOf(e), b: w.appendSpan(nil, e, &s.link), failed: w.exception(e)}
	w.put(e, s)
	w.open[s.link.Span] = s
	heap.Push(&w.waiting, s)
	if len(w.waiting) > maxWaiting {
		return w.over(heap.Pop(&w.waiting).(*span))
	}
	return nil
}

// around returns the open span that an event is in, or nil.
func (w *writer) around(e *trace.Event) *span {
	if l, ok := e.Link(); ok {
		if s := w.open[l.Parent]; s != nil && s.link.Trace == l.Trace {
			return s
		}
	}
	return w.rowOf(e)
}

func (w *writer) instant(s *span, e *trace.Event) {
	c := s.text
	if c == nil || c.n >= maxEvents || len(c.events) >= maxEventBytes {
		w.sum.Dropped++
		if c != nil {
			c.dropped++
		}
		return
	}
	if c.n++; c.n > 1 {
		c.events = append(c.events, ',')
	}
	w.sum.Events++
	c.events = w.appendEvent(c.events, e)
}

// over writes a span that has ended.
func (w *writer) over(s *span) error {
	if w.open[s.link.Span] == s {
		delete(w.open, s.link.Span)
	}
	c := s.text
	s.text = nil
	b, before := c.part.spans, len(c.part.spans)
	if before == 0 {
		w.used = append(w.used, c.part)
	} else {
		b = append(b, ',')
	}
	b = append(b, c.b...)
	if c.failed != nil {
		if c.n > 0 {
			c.events = append(c.events, ',')
		}
		c.n++
		w.sum.Events++
		c.events = append(c.events, c.failed...)
	}
	if c.n > 0 {
		b = append(append(append(b, `,"events":[`...), c.events...), ']')
	}
	if c.dropped > 0 {
		b = fmt.Appendf(b, `,"droppedEventsCount":%d`, c.dropped)
	}
	c.part.spans = append(b, '}')
	w.sum.Spans++
	w.n++
	if w.size += len(c.part.spans) - before; w.n >= maxSpans || w.size >= maxRequest {
		return w.flush()
	}
	return nil
}

func (w *writer) finish() error {
	var errs error
	for len(w.waiting) > 0 && errs == nil {
		errs = w.over(heap.Pop(&w.waiting).(*span))
	}
	return errors.Join(errs, w.flush())
}

func (w *writer) flush() error {
	if w.n == 0 {
		return nil
	}
	request := append(make([]byte, 0, w.size+1024), `{"resourceSpans":[`...)
	for i, p := range w.used {
		if i > 0 {
			request = append(request, ',')
		}
		request = append(append(append(request, p.head...), p.spans...), "]}]}"...)
		p.spans = p.spans[:0]
	}
	w.used, w.n, w.size = w.used[:0], 0, 0
	return w.send(append(request, "]}"...))
}

// partOf returns the part for the spans of a record's process.
func (w *writer) partOf(e *trace.Event) *part {
	m, _ := w.t.ProcessOf(e.Goid)
	p := w.parts[m.Number]
	if p == nil {
		p = &part{head: appendHead(nil, w.t, &m.Member)}
		w.parts[m.Number] = p
	}
	return p
}

// spans is a heap by end. Of equal ends the one that began last comes first.
type spans []*span

func (h spans) Len() int           { return len(h) }
func (h spans) Less(i, j int) bool { return h[i].end < h[j].end }
func (h spans) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *spans) Push(x any)        { *h = append(*h, x.(*span)) }
func (h *spans) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return s
}
