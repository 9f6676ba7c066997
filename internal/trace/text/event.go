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
	name := func(id uint16) string { return quote(t.Name(id)) }
	w := words(append(append(append(b, e.Kind.String()...), ' '), name(e.Name)...))
	w.word("g", int64(e.Goid))
	w.word("depth", int64(e.Depth))
	w.word("start", e.Start)
	if s := e.Kind.Spec(); s != nil && s.Scope && e.Kind != format.KindPending {
		w.word("dur", e.Dur)
	}
	if e.Open {
		w = append(w, " open"...)
	}
	if e.Quality != format.Unknown {
		w = append(w, " cpu="+itoa(e.CPU)+"/"+qualities[e.Quality]...)
	}
	switch e.Kind {
	case format.KindProcess:
		if e.User >= 0 {
			w.word("user", e.User)
			w.word("system", e.System)
		}
	case format.KindCounter:
		s := format.Slot{Type: e.ValueType, Value: e.Value}
		w = appendSlot(append(w, " value="...), &s, name)
	case format.KindGo:
		w.word("created", e.Created)
		w.word("creator", int64(e.Creator))
	case format.KindAnchor:
		w.word("cpu", e.CPU)
	}
	w.nonzero("thread", int64(e.Thread))
	w.nonzero("owner", int64(e.Owner))
	w.nonzero("endg", int64(e.EndGoid))
	if e.Track != format.NameEmpty {
		w = append(append(w, " track="...), name(e.Track)...)
	}
	return appendArgs(appendArgs(w, " |", e.Args, name), " ||", e.EndArgs, name)
}

// appendArgs appends arguments behind what they are told from others by.
func appendArgs(b []byte, sep string, args []format.Slot, name func(id uint16) string) []byte {
	for i := range args {
		if i == 0 {
			b = append(b, sep...)
		}
		b = appendSlot(append(b, ' '), &args[i], name)
	}
	return b
}
