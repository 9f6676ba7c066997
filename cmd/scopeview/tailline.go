package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// liner formats events as lines.
type liner struct {
	t    *trace.Trace
	args *args.Lister
	b    []byte
}

func newLiner(t *trace.Trace) *liner { return &liner{t: t, args: args.NewLister(t.Name)} }

// ended returns the line of an ended scope or an instant. Its time is the end, so that lines are in
// the order of their times.
func (l *liner) ended(e *trace.Event) []byte {
	l.b = l.t.Wall(e.Start+e.Dur).AppendFormat(l.b[:0], "15:04:05.000000")
	cpu := ""
	switch e.Quality {
	case format.Exact, format.Likely:
		cpu = show.Duration(e.CPU)
	case format.AtMost:
		cpu = "≤" + show.Duration(e.CPU)
	}
	dur := show.Duration(e.Dur)
	if spec := e.Kind.Spec(); !spec.Scope || e.Kind == format.KindPending {
		dur = "·"
	} else if cpu == "" {
		cpu = "-"
	}
	return l.rest(e, dur, cpu)
}

// open returns the line of an open scope; its time is the last known one.
func (l *liner) open(e *trace.Event) []byte {
	l.b = l.t.Wall(e.Start+e.Dur).AppendFormat(l.b[:0], "15:04:05.000000")
	return l.rest(e, show.Duration(e.Dur)+"…", "open")
}

func (l *liner) rest(e *trace.Event, dur, cpu string) []byte {
	l.cell(dur, 8)
	l.cell(cpu, 8)
	l.b = append(l.b, ' ', ' ')
	before := len(l.b)
	if p, ok := l.t.ProcessOf(e.Goid); ok {
		l.b = append(append(l.b, show.Name(p.Label)...), ' ')
	}
	switch {
	case e.Track != format.NameEmpty:
		l.b = append(l.b, show.Name(l.t.Name(e.Track))...)
	case l.t.OwnGoid(e.Goid) != 0:
		l.b = append(l.b, 'g')
		l.b = strconv.AppendUint(l.b, l.t.OwnGoid(e.Goid), 10)
	default:
		l.b = append(l.b, '-')
	}
	for len(l.b) < before+8 {
		l.b = append(l.b, ' ')
	}
	l.b = append(l.b, ' ', ' ')
	list := l.args.List(e)
	name := l.t.Name(e.Name)
	if e.Kind == format.KindTaskf {
		name, list = string(list[0].Value.Str), named(list[1:]) // the text contains the others
	} else if e.Kind != format.KindTask {
		l.b = append(l.b, e.Kind.String()...)
		l.b = append(l.b, ' ')
	}
	l.b = append(l.b, show.Name(name)...)
	for i := range list {
		l.b = append(l.b, ' ')
		if !positional(&list[i]) {
			l.b = append(l.b, show.Name(list[i].Key)...)
			l.b = append(l.b, '=')
		}
		l.value(&list[i].Value)
	}
	return append(l.b, '\n')
}

// cell appends a right-aligned column.
func (l *liner) cell(text string, width int) {
	l.b = append(l.b, ' ', ' ')
	for n := width - len([]rune(text)); n > 0; n-- {
		l.b = append(l.b, ' ')
	}
	l.b = append(l.b, text...)
}

// named returns the arguments with keys of their own.
func named(list []args.Arg) []args.Arg {
	return slices.DeleteFunc(list, func(a args.Arg) bool { return positional(&a) })
}

// positional reports whether an argument has no key of its own.
func positional(a *args.Arg) bool { return allDigits(a.Key) }

func (l *liner) value(s *format.Slot) {
	switch s.Type {
	case format.SlotInt:
		l.b = strconv.AppendInt(l.b, s.Int(), 10)
	case format.SlotFloat:
		l.b = strconv.AppendFloat(l.b, s.Float(), 'g', 6, 64)
	case format.SlotBool:
		l.b = strconv.AppendBool(l.b, s.Value != 0)
	case format.SlotDuration:
		l.b = append(l.b, time.Duration(s.Int()).String()...)
	case format.SlotString:
		l.b = append(l.b, word(string(s.Str))...)
		if s.Full > len(s.Str) {
			l.b = append(l.b, "…("+strconv.Itoa(s.Full)+" bytes)"...)
		}
	case format.SlotType_:
		l.b = append(l.b, "<"+word(string(s.Str))+">"...)
	case format.SlotAddr:
		l.b = append(l.b, "0x"...)
		l.b = strconv.AppendUint(l.b, s.Value, 16)
	default:
		l.b = strconv.AppendUint(l.b, s.Value, 10)
	}
}

// word returns a string as one word: quoted if it would not look like one.
func word(s string) string {
	for i := range len(s) {
		if s[i] == ' ' || s[i] == '=' || s[i] == '"' {
			return strconv.QuoteToGraphic(s)
		}
	}
	return show.Name(s)
}
