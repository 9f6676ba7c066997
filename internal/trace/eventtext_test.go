package trace_test

import (
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// appendEvent appends an event as a line, without a newline. Tests compare readers by it:
//
//	KIND "name" g=N depth=N start=N [dur=N] [open] [cpu=N/QUALITY]
//	     [user=N system=N] [value=TYPE:N] [created=N creator=N] [thread=N]
//	     [owner=N] [endg=N] [track="name"] [| SLOT…] [|| SLOT…]
//
// Times are ns. Only scopes have dur; unknown and 0 values are left out, except start, g and depth.
// The slots behind | were given at begin, those behind || at the end; a key is an ID like a name.
func appendEvent(b []byte, t *trace.Trace, e *trace.Event) []byte {
	name := func(id uint16) string { return strconv.Quote(t.Name(id)) }
	b = append(append(append(b, e.Kind.String()...), ' '), name(e.Name)...)
	word := func(key string, v int64) {
		b = strconv.AppendInt(append(append(append(b, ' '), key...), '='), v, 10)
	}
	nonzero := func(key string, v int64) {
		if v != 0 {
			word(key, v)
		}
	}
	word("g", int64(e.Goid))
	word("depth", int64(e.Depth))
	word("start", e.Start)
	if s := e.Kind.Spec(); s != nil && s.Scope && e.Kind != format.KindPending {
		word("dur", e.Dur)
	}
	if e.Open {
		b = append(b, " open"...)
	}
	if e.Quality != format.Unknown {
		word("cpu", e.CPU)
		b = append(b, "/"+[...]string{"unknown", "exact", "likely", "most"}[e.Quality]...)
	}
	switch e.Kind {
	case format.KindProcess:
		if e.User >= 0 {
			word("user", e.User)
			word("system", e.System)
		}
	case format.KindCounter:
		s := format.Slot{Type: e.ValueType, Value: e.Value}
		b = text.AppendSlot(append(b, " value="...), &s, name)
	case format.KindGo:
		word("created", e.Created)
		word("creator", int64(e.Creator))
	case format.KindAnchor:
		word("cpu", e.CPU)
	}
	nonzero("thread", int64(e.Thread))
	nonzero("owner", int64(e.Owner))
	nonzero("endg", int64(e.EndGoid))
	if e.Track != format.NameEmpty {
		b = append(append(b, " track="...), name(e.Track)...)
	}
	return appendArgs(appendArgs(b, " |", e.Args, name), " ||", e.EndArgs, name)
}

// appendArgs appends arguments behind a separator.
func appendArgs(b []byte, sep string, args []format.Slot, name func(id uint16) string) []byte {
	for i := range args {
		if i == 0 {
			b = append(b, sep...)
		}
		b = text.AppendSlot(append(b, ' '), &args[i], name)
	}
	return b
}
