package chrome

import (
	"strconv"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// appendName appends the name and the category of an event.
func (s *writer) appendName(b []byte, e *trace.Event) []byte {
	of := &s.names[e.Kind&127]
	for int(e.Name) >= len(*of) {
		*of = append(*of, nil)
	}
	if (*of)[e.Name] == nil {
		(*of)[e.Name] = appendNamed(nil, s.text(e.Name), categories[e.Kind&127])
	}
	return append(b, (*of)[e.Name]...)
}

func appendNamed(b []byte, name, category string) []byte {
	b = append(b, `,"name":`...)
	b = args.AppendString(b, name)
	b = append(b, `,"cat":"`...)
	b = append(b, category...)
	return append(b, '"')
}

func appendArgs(b []byte, list []args.Arg) []byte {
	if len(list) == 0 {
		return b
	}
	return args.AppendDoubles(append(b, `,"args":`...), list)
}

// Scope implements rows.Sink.
func (s *writer) Scope(x *rows.Scope) {
	b := s.begin("X", x.Row.ID)
	b = s.appendSpan(b, x.Start, x.Start+x.Dur)
	if !x.Open && (x.Quality == format.Exact || x.Quality == format.Likely) && x.Kind != format.KindProcess {
		b = appendMicros(append(b, `,"tdur":`...), x.CPU)
	}
	s.end(appendArgs(s.appendName(b, x.Event), x.Args))
	if x.Link != nil {
		s.flow(x.Link, "go", x.Link.FromTime, x.Link.ToTime, "")
	}
}

// End implements rows.Sink; an X event includes its end.
func (s *writer) End(*rows.End) {}

// Handover implements rows.Sink. 1 ns before their ends both the hold and the wait still
// enclose the arrow's ends.
func (s *writer) Handover(l *rows.Link) {
	s.flow(l, "lock", l.FromTime-1, l.ToTime-1, `,"bp":"e"`)
}

func (s *writer) flow(l *rows.Link, name string, from, to int64, bind string) {
	for _, end := range []struct {
		phase string
		row   *rows.Row
		time  int64
		bind  string
	}{{"s", l.From, from, ""}, {"f", l.To, to, bind}} {
		b := s.begin(end.phase, end.row.ID)
		b = s.appendTime(b, end.time)
		b = strconv.AppendUint(append(b, `,"id":`...), l.ID, 10)
		b = appendNamed(b, name, name)
		s.end(append(b, end.bind...))
	}
}

// Instant implements rows.Sink.
func (s *writer) Instant(r *rows.Row, e *trace.Event, list []args.Arg) {
	b := s.begin("i", r.ID)
	b = s.appendTime(b, e.Start)
	b = append(b, `,"s":"t"`...)
	s.end(appendArgs(s.appendName(b, e), list))
}

// Counter implements rows.Sink.
func (s *writer) Counter(e *trace.Event, list []args.Arg) {
	b := s.appendTime(s.begin("C", s.pid), e.Start)
	s.end(appendArgs(s.appendName(b, e), list))
}

// Gauge implements rows.Sink.
func (s *writer) Gauge(g *rows.Gauge, t int64, values []float64) {
	b := s.appendTime(s.begin("C", s.pid), t)
	b = appendNamed(b, g.Name, "heartbeat")
	b = append(b, `,"args":{`...)
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = args.AppendString(b, g.Series[i])
		b = strconv.AppendFloat(append(b, ':'), v, 'f', -1, 64)
	}
	s.end(append(b, '}'))
}

// State implements rows.Sink.
func (s *writer) State(x *rows.State) {
	b := s.begin("X", x.Row.ID)
	b = s.appendSpan(b, x.From, x.To)
	if x.On {
		b = appendMicros(append(b, `,"tdur":`...), x.To-x.From)
	}
	s.end(appendArgs(appendNamed(b, x.State.String(), "state"), x.Args))
}

// Row implements rows.Sink.
func (s *writer) Row(r *rows.Row, name string, rank int32) {
	s.meta("thread_name", r.ID, "name", name)
	b := s.begin("M", r.ID)
	b = append(b, `,"name":"thread_sort_index","args":{"sort_index":`...)
	b = strconv.AppendInt(b, int64(rank), 10)
	s.end(append(b, '}'))
}

func (s *writer) meta(name string, tid uint32, key, value string) {
	b := s.begin("M", tid)
	b = append(b, `,"name":"`...)
	b = append(b, name...)
	b = append(b, `","args":{"`...)
	b = append(b, key...)
	b = append(b, `":`...)
	b = args.AppendString(b, value)
	s.end(append(b, '}'))
}
