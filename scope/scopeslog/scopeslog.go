//go:build !scope_off

package scopeslog

import (
	"context"
	"encoding/hex"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

// New returns a handler that records each record and passes it to next; see the package's
// documentation.
func New(next slog.Handler) slog.Handler { return &handler{next: next, root: next} }

// given is an attribute of WithAttrs, with the groups that were open.
type given struct {
	prefix string
	attr   slog.Attr
}

type handler struct {
	next   slog.Handler
	prefix string  // the open groups: "a.b."
	given  []given // set by WithAttrs

	// The calls that derive next from root, for ids that must be outside of its groups.
	root slog.Handler
	made []func(slog.Handler) slog.Handler
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if !scope.Enabled() {
		return h.next.Handle(ctx, r)
	}
	link, ok := scope.LinkOf(ctx)
	h.record(&r, &link)
	if !ok || h.hasIDs(&r) {
		return h.next.Handle(ctx, r)
	}
	var b [2 * (len(link.Trace) + len(link.Span))]byte
	hex.Encode(b[:], link.Trace[:])
	hex.Encode(b[2*len(link.Trace):], link.Span[:])
	ids := string(b[:])
	traceID, spanID := slog.String(traceKey, ids[:2*len(link.Trace)]), slog.String(spanKey, ids[2*len(link.Trace):])
	if h.prefix == "" {
		r = r.Clone() // other copies share its memory
		r.AddAttrs(traceID, spanID)
		return h.next.Handle(ctx, r)
	}
	next := h.root.WithAttrs([]slog.Attr{traceID, spanID})
	for _, then := range h.made {
		next = then(next)
	}
	return next.Handle(ctx, r)
}

// traceKey and spanKey are the attributes added for the next handler.
const traceKey, spanKey = "trace_id", "span_id"

// hasIDs reports whether the program itself gives the record a trace or span id outside of all
// groups. Adding ours would duplicate the key, or mix the ids of two tracers in one line.
func (h *handler) hasIDs(r *slog.Record) (found bool) {
	for i := range h.given {
		if h.given[i].prefix == "" && isID(&h.given[i].attr) {
			return true
		}
	}
	if h.prefix == "" {
		r.Attrs(func(a slog.Attr) bool {
			found = isID(&a)
			return !found
		})
	}
	return found
}

// isID reports whether an attribute is one of the ids, or an unnamed group that has one.
func isID(a *slog.Attr) bool {
	if a.Key == "" && a.Value.Kind() == slog.KindGroup {
		return slices.ContainsFunc(a.Value.Group(), func(a slog.Attr) bool { return isID(&a) })
	}
	return a.Key == traceKey || a.Key == spanKey
}

// record records the event as a child of the link's scope.
func (h *handler) record(r *slog.Record, link *scope.Link) {
	event, named := record.BeginEvent(r.Message, levelName(r.Level))
	if !event.Recorded() {
		return
	}
	var buf [record.EventWords]uint64
	t := event.Into(buf[:])
	if h.add(&t, r, named, link); t.Cut() {
		h.much(event, r, named, link)
		return
	}
	t.Event()
}

// much records an event that does not fit into record's buffer.
//
//go:noinline
func (h *handler) much(event record.PendingEvent, r *slog.Record, named bool, link *scope.Link) {
	var buf [record.MaxEventWords]uint64
	t := event.Into(buf[:])
	h.add(&t, r, named, link)
	t.Event()
}

// add adds the event's arguments. If named, the message is the event's name and not an
// argument.
func (h *handler) add(t *record.EventArgs, r *slog.Record, named bool, link *scope.Link) {
	switch {
	case !named:
		t.Text("", "msg", format.SlotString, r.Message)
	case r.Level != slog.LevelInfo:
		t.Text("", "level", format.SlotString, levelName(r.Level))
	}
	for i := range h.given {
		attr(t, h.given[i].prefix, &h.given[i].attr)
	}
	r.Attrs(func(a slog.Attr) bool {
		attr(t, h.prefix, &a)
		return true
	})
	if link.Trace != [16]byte{} {
		t.Link(&scope.Link{Trace: link.Trace, Parent: link.Span})
	}
}

// levelName returns slog's name of a level, without an allocation for the usual ones.
func levelName(l slog.Level) string {
	switch l {
	case slog.LevelDebug:
		return "DEBUG"
	case slog.LevelInfo:
		return "INFO"
	case slog.LevelWarn:
		return "WARN"
	case slog.LevelError:
		return "ERROR"
	}
	return l.String()
}

// attr adds an attribute, or those of a group one after another.
func attr(t *record.EventArgs, prefix string, a *slog.Attr) {
	switch v := &a.Value; v.Kind() {
	case slog.KindString:
		t.Text(prefix, a.Key, format.SlotString, v.String())
	case slog.KindInt64:
		t.Number(prefix, a.Key, format.SlotInt, uint64(v.Int64()))
	case slog.KindUint64:
		t.Number(prefix, a.Key, format.SlotUint, v.Uint64())
	case slog.KindDuration:
		t.Number(prefix, a.Key, format.SlotDuration, uint64(v.Duration()))
	case slog.KindGroup:
		if a.Key != "" {
			prefix += a.Key + "."
		}
		inner := v.Group()
		for i := range inner {
			attr(t, prefix, &inner[i])
		}
	case slog.KindTime:
		t.Text(prefix, a.Key, format.SlotString, v.Time().Format(time.RFC3339Nano))
	case slog.KindLogValuer:
		// Its value is not recorded: LogValue may be there to keep that out of logs.
		t.Text(prefix, a.Key, format.SlotType_, reflect.TypeOf(v.Any()).String())
	case slog.KindFloat64:
		t.Number(prefix, a.Key, format.SlotFloat, math.Float64bits(v.Float64()))
	case slog.KindBool:
		t.Any(prefix, a.Key, v.Bool())
	default:
		if value := v.Any(); value != nil || a.Key != "" { // else slog leaves it out too
			t.Any(prefix, a.Key, value)
		}
	}
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	with := h.with(func(next slog.Handler) slog.Handler { return next.WithAttrs(attrs) })
	for _, a := range attrs {
		with.given = append(with.given, given{h.prefix, a})
	}
	return with
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := h.with(func(next slog.Handler) slog.Handler { return next.WithGroup(name) })
	with.prefix += name + "."
	return with
}

// with returns a handler whose next is then(h.next).
func (h *handler) with(then func(slog.Handler) slog.Handler) *handler {
	with := *h
	with.next = then(h.next)
	with.given, with.made = slices.Clip(h.given), append(slices.Clip(h.made), then)
	return &with
}
