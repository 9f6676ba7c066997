package text

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// AppendEvent appends an event as a line, without its end. It is what the tests
// compare readers by:
//
//	KIND "name" g=N depth=N start=N [dur=N] [open] [cpu=N/QUALITY]
//	     [user=N system=N] [value=TYPE:N] [created=N creator=N] [thread=N]
//	     [owner=N] [endg=N] [track="name"] [| SLOT…] [|| SLOT…]
//
// Times are ns. dur is of scopes only; what is unknown or 0 is left out, start,
// g and depth excepted. The slots behind | were given at begin, those behind ||
// at the end; a key is an ID like a name.
func AppendEvent(b []byte, t *trace.Trace, e *trace.Event) []byte {
	word := func(key string, v int64) {
		b = append(append(append(append(b, ' '), key...), '='), itoa(v)...)
	}
	nonzero := func(key string, v int64) {
		if v != 0 {
			word(key, v)
		}
	}
	name := func(id uint16) string { return quote(t.Name(id)) }
	b = append(append(append(b, e.Kind.String()...), ' '), name(e.Name)...)
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
		b = append(b, " cpu="+itoa(e.CPU)+"/"+qualities[e.Quality]...)
	}
	switch e.Kind {
	case format.KindProcess:
		if e.User >= 0 {
			word("user", e.User)
			word("system", e.System)
		}
	case format.KindCounter:
		s := format.Slot{Type: e.ValueType, Value: e.Value}
		b = AppendSlot(append(b, " value="...), &s, name)
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
	for i := range e.Args {
		if i == 0 {
			b = append(b, " |"...)
		}
		b = AppendSlot(append(b, ' '), &e.Args[i], name)
	}
	for i := range e.EndArgs {
		if i == 0 {
			b = append(b, " ||"...)
		}
		b = AppendSlot(append(b, ' '), &e.EndArgs[i], name)
	}
	return b
}
