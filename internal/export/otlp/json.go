package otlp

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// seed makes the ids of records without a link.
type seed [sha256.Size]byte

// seedOf returns the seed of a recording, from what identifies it.
func seedOf(t *trace.Trace) seed {
	h := t.Header()
	return sha256.Sum256(fmt.Appendf(nil, "scopeview %x %d %d", h.ID, h.StartWall, h.PID))
}

// id hashes a record's place and the kind of id. It is zero only once in 2^64 records.
func (s *seed) id(loc format.Loc, what byte) [sha256.Size]byte {
	var b [sha256.Size + 8 + 1]byte
	copy(b[:], s[:])
	binary.BigEndian.PutUint64(b[sha256.Size:], uint64(loc))
	b[len(b)-1] = what
	return sha256.Sum256(b[:])
}

func (s *seed) trace(loc format.Loc) [16]byte { id := s.id(loc, 't'); return [16]byte(id[:16]) }
func (s *seed) span(loc format.Loc) [8]byte   { id := s.id(loc, 's'); return [8]byte(id[:8]) }

// appendHead appends the beginning of a process's spans: its resource. m is zero unless the
// trace was merged.
func appendHead(b []byte, t *trace.Trace, m *format.Member) []byte {
	program, host, pid := rows.FactsOf(t, &rows.Options{}).Program, t.Lookup("host"), t.Header().PID
	if m.Number != 0 {
		program, host, pid = rows.Base(cmp.Or(m.Program, "process")), m.Host, m.PID
	}
	b = append(b, `{"resource":{"attributes":[`...)
	b = appendText(b, "service.name", program)
	for _, a := range [][2]string{{"host.name", host}, {"process.runtime.version", t.Lookup("go")}} {
		if a[1] != "" {
			b = appendText(append(b, ','), a[0], a[1])
		}
	}
	b = appendInt(append(b, ','), "process.pid", int64(pid))
	b = appendText(append(b, ','), "telemetry.sdk.name", "scopeview")
	b = appendText(append(b, ','), "telemetry.sdk.language", "go")
	return append(b, `]},"scopeSpans":[{"scope":{"name":"scopeview"},"spans":[`...)
}

// appendSpan appends a span up to its events.
func (w *writer) appendSpan(b []byte, e *trace.Event, l *format.Link) []byte {
	b = hex.AppendEncode(append(b, `{"traceId":"`...), l.Trace[:])
	b = hex.AppendEncode(append(b, `","spanId":"`...), l.Span[:])
	if l.Parent != [8]byte{} {
		b = hex.AppendEncode(append(b, `","parentSpanId":"`...), l.Parent[:])
	}
	b = args.AppendString(append(b, `","name":`...), w.t.Name(e.Name))
	_, linked := e.Link()
	list := w.lister.List(e)
	m := meaningOf(w.t.Name(e.Name), linked, list)
	b = strconv.AppendInt(append(b, `,"kind":`...), int64(m.kind), 10)
	b = append(b, `,"startTimeUnixNano":"`...)
	b = strconv.AppendInt(b, w.t.Wall(e.Start).UnixNano(), 10)
	b = append(b, `","endTimeUnixNano":"`...)
	b = strconv.AppendInt(b, w.t.Wall(e.Start+e.Dur).UnixNano(), 10)
	b = append(b, `","attributes":[`...)
	b = appendInt(b, "scopeview.goroutine", int64(w.t.OwnGoid(e.Goid)))
	if e.Track != format.NameEmpty {
		b = appendText(append(b, ','), "scopeview.row", w.t.Name(e.Track))
	}
	if kind := kinds[e.Kind&127]; kind != "task" {
		b = appendText(append(b, ','), "scopeview.kind", kind)
	}
	if !e.Open && e.Kind != format.KindProcess && (e.Quality == format.Exact || e.Quality == format.Likely) {
		b = appendInt(append(b, ','), "scopeview.cpu_ns", e.CPU)
	}
	if e.Open {
		b = append(b, `,{"key":"scopeview.open","value":{"boolValue":true}}`...)
	}
	if w.breaks.Across(e) {
		b = append(b, `,{"key":"scopeview.clock_step","value":{"boolValue":true}}`...)
	}
	for _, a := range m.more {
		b = appendText(append(b, ','), a[0], a[1])
	}
	if m.port != 0 {
		b = appendInt(append(b, ','), attrPort, m.port)
	}
	b = appendArgs(b, list, linked, m.names, true)
	b = append(b, ']')
	if m.failed {
		b = append(b, `,"status":{"code":2}`...)
	}
	return b
}

func (w *writer) appendEvent(b []byte, e *trace.Event) []byte {
	b = append(b, `{"timeUnixNano":"`...)
	b = strconv.AppendInt(b, w.t.Wall(e.Start).UnixNano(), 10)
	b = args.AppendString(append(b, `","name":`...), w.t.Name(e.Name))
	b = append(b, `,"attributes":[`...)
	_, linked := e.Link()
	b = appendArgs(b, w.lister.List(e), linked, nil, false)
	return append(b, "]}"...)
}

// exception returns the event of the error that a scope ended with, or nil.
func (w *writer) exception(e *trace.Event) []byte {
	key, value := exceptionOf(e, w.t.Name)
	if key == "" {
		return nil
	}
	b := strconv.AppendInt([]byte(`{"timeUnixNano":"`), w.t.Wall(e.Start+e.Dur).UnixNano(), 10)
	b = appendText(append(b, `","name":"`+eventException+`","attributes":[`...), key, value)
	return append(b, "]}"...)
}

// kinds are the names of the kinds in the CSV; a Taskf is a task.
var kinds = func() (names [128]string) {
	for _, s := range format.Specs {
		names[s.Kind] = s.CSV
	}
	return names
}()

// appendArgs appends a record's arguments under the conventions' names, after other
// attributes if after is true.
func appendArgs(b []byte, list []args.Arg, linked bool, names map[string]string, after bool) []byte {
	for i := range list {
		a := &list[i]
		if linked && (a.Key == "trace_id" || a.Key == "span_id" || a.Key == "parent_id") {
			continue // they are the span's own
		}
		key := a.Key
		if name, ok := names[key]; ok {
			if key = name; key == "" {
				continue
			}
		}
		if after {
			b = append(b, ',')
		}
		after = true
		if key == attrRPCStatus && a.Value.Type == format.SlotString {
			b = appendText(b, key, grpcStatus(string(a.Value.Str)))
			continue
		}
		b = appendSlot(b, key, &a.Value)
	}
	return b
}

// appendSlot appends an attribute. Numbers that OTLP's JSON can't represent become text.
func appendSlot(b []byte, key string, s *format.Slot) []byte {
	switch s.Type {
	case format.SlotString, format.SlotType_:
		return appendText(b, key, string(s.Str))
	case format.SlotAddr:
		return appendText(b, key, "0x"+strconv.FormatUint(s.Value, 16))
	case format.SlotBool:
		b = append(appendKey(b, key), `{"boolValue":`...)
		return append(strconv.AppendBool(b, s.Value != 0), "}}"...)
	case format.SlotFloat:
		f := math.Float64frombits(s.Value)
		b = append(appendKey(b, key), `{"doubleValue":`...)
		switch {
		case math.IsNaN(f):
			b = append(b, `"NaN"`...)
		case math.IsInf(f, 1):
			b = append(b, `"Infinity"`...)
		case math.IsInf(f, -1):
			b = append(b, `"-Infinity"`...)
		default:
			b = strconv.AppendFloat(b, f, 'g', -1, 64)
		}
		return append(b, "}}"...)
	case format.SlotInt, format.SlotDuration:
		return appendInt(b, key, s.Int())
	}
	if s.Value > math.MaxInt64 {
		return appendText(b, key, strconv.FormatUint(s.Value, 10))
	}
	return appendInt(b, key, int64(s.Value))
}

func appendKey(b []byte, key string) []byte {
	b = args.AppendString(append(b, `{"key":`...), key)
	return append(b, `,"value":`...)
}

func appendText(b []byte, key, text string) []byte {
	b = args.AppendString(append(appendKey(b, key), `{"stringValue":`...), text)
	return append(b, "}}"...)
}

func appendInt(b []byte, key string, v int64) []byte {
	b = strconv.AppendInt(append(appendKey(b, key), `{"intValue":"`...), v, 10)
	return append(b, `"}}`...)
}
