// Package args turns the contents of a record other than its times into keys and values, the same
// for every view:
//
//   - positional arguments have the keys "0", "1", …, counted on from those given
//     at the begin to those given at the end; arguments by scope.KV have their own
//     and do not count
//   - "text" of a Taskf: its format with the positional arguments filled in
//   - "value" of a counter, "user_ns" and "sys_ns" of a process scope
//   - of a lock's wait or hold "addr", "lock" (its kind: lock, mutex, rwmutex, retry …),
//     "mode": "shared" if it is shared with other readers, "holder" (the goroutine that
//     had the lock when the wait began, if known), "at_least": true of a hold that
//     may have begun before its record, "tries" of a retry, and "called_off": true of a
//     wait of 0 ns that turned out to be too short to be recorded, and is in no sum
//   - "span.kind" of a span of OpenTelemetry that is not internal: server, client, producer,
//     consumer
//   - "never_ended": true of a scope whose goroutine ended without ending it
//   - "trace_id", "span_id" and "parent_id" of a record with a link (scope.Context), in
//     hexadecimal as in a traceparent header; unknown ones are absent
//   - "cut": how many more arguments there were than a record keeps
//   - "KEY#bytes", after all others, for a string of which a record keeps only the
//     beginning: the number of its bytes
//
// If a key occurs more than once, the later ones become "key#2", "key#3", …; scopeview's keys come
// first and are unchanged.
package args

import (
	"encoding/hex"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Arg is a value with its key. Both may be hostile: any bytes at all.
type Arg struct {
	Key   string
	Value format.Slot
}

// Lister lists events' arguments. It reuses memory from event to event, so that listing does not
// allocate, except for a Taskf with unusual verbs and for strings that were cut.
type Lister struct {
	names func(id uint16) string
	args  []Arg
	text  []byte
	ids   [2 * (16 + 8 + 8)]byte // of a link, in hexadecimal
}

// NewLister returns a Lister that finds keys with names, a Trace's Name.
func NewLister(names func(id uint16) string) *Lister { return &Lister{names: names} }

// positions has the keys of positional arguments: more than fit in a record and its end together.
var positions = func() (p [2 * format.MaxSlots]string) {
	for i := range p {
		p[i] = strconv.Itoa(i)
	}
	return p
}()

func intSlot(v int64) format.Slot {
	return format.Slot{Type: format.SlotInt, Value: uint64(v)}
}

// List lists e's arguments. The result is valid until the next call, and until the reader goes on
// to the next event.
func (l *Lister) List(e *trace.Event) []Arg {
	l.args = l.args[:0]
	switch e.Kind {
	case format.KindCounter:
		l.args = append(l.args, Arg{"value", format.Slot{Type: e.ValueType, Value: e.Value}})
	case format.KindProcess:
		if e.User >= 0 && e.System >= 0 && !e.Open {
			l.args = append(l.args, Arg{"user_ns", intSlot(e.User)}, Arg{"sys_ns", intSlot(e.System)})
		}
	case format.KindTaskf:
		l.text = appendText(l.text[:0], l.names(e.Name), e.Args)
		l.args = append(l.args, Arg{"text", format.Slot{Type: format.SlotString, Str: l.text, Full: len(l.text)}})
	}
	if e.Left {
		l.args = append(l.args, Arg{"never_ended", format.Slot{Type: format.SlotBool, Value: 1}})
	}
	if len(e.Args)+len(e.EndArgs) == 0 {
		return l.args
	}
	begin, end := e.Args, e.EndArgs
	if e.Kind == format.KindWait || e.Kind == format.KindHold {
		begin, end = l.lock(begin, end)
		if e.CalledOff() {
			l.args = append(l.args, Arg{"called_off", format.Slot{Type: format.SlotBool, Value: 1}})
		}
	}
	if link, ok := e.Link(); ok {
		l.link(&link)
	}
	position, named := l.add(begin, 0)
	_, more := l.add(end, position)
	if named || more {
		l.distinguish()
	}
	for i := range l.args {
		if a := &l.args[i]; a.Value.Type == format.SlotString && len(a.Value.Str) < a.Value.Full {
			l.args = append(l.args, Arg{a.Key + "#bytes", intSlot(int64(a.Value.Full))})
			l.number(len(l.args) - 1)
		}
	}
	return l.args
}

// lockKinds has the kinds of locks as texts of slots.
var lockKinds = func() (texts [][]byte) {
	for _, k := range format.LockKindNames {
		texts = append(texts, []byte(k))
	}
	return texts
}()

var shared = []byte("shared")

// lock appends the lock's properties of a wait or a hold, recorded from format 1.2 on, and returns
// the remaining slots.
func (l *Lister) lock(begin, end []format.Slot) (_, _ []format.Slot) {
	if len(begin) < 3 || begin[0].Type != format.SlotAddr || begin[1].Type != format.SlotGoid || begin[2].Type != format.SlotUint {
		return begin, end
	}
	text := func(key string, b []byte) {
		l.args = append(l.args, Arg{key, format.Slot{Type: format.SlotString, Str: b, Full: len(b)}})
	}
	if begin[0].Value != 0 {
		l.args = append(l.args, Arg{"addr", begin[0]})
	}
	kind, mode := format.LockOf(begin[2].Value)
	text("lock", lockKinds[kind])
	if mode == format.LockShared {
		text("mode", shared)
	}
	if begin[1].Value != 0 {
		l.args = append(l.args, Arg{"holder", intSlot(begin[1].Int())})
	}
	if begin[2].Value&format.LockSince != 0 {
		l.args = append(l.args, Arg{"at_least", format.Slot{Type: format.SlotBool, Value: 1}})
	}
	if kind == format.LockRetry && len(end) > 0 && end[0].Type == format.SlotInt {
		l.args = append(l.args, Arg{"tries", end[0]})
		end = end[1:]
	}
	return begin[3:], end
}

// link appends the ids of a link, as texts.
func (l *Lister) link(link *format.Link) {
	b := l.ids[:0]
	text := func(key string, id []byte) {
		if n := len(b); !allZero(id) {
			b = hex.AppendEncode(b, id)
			l.args = append(l.args, Arg{key, format.Slot{Type: format.SlotString, Str: b[n:], Full: len(b) - n}})
		}
	}
	text("trace_id", link.Trace[:])
	text("span_id", link.Span[:])
	text("parent_id", link.Parent[:])
}

func allZero(id []byte) bool {
	for _, c := range id {
		if c != 0 {
			return false
		}
	}
	return true
}

// add appends one list of slots; position is the next positional key. named reports whether there
// may be duplicate keys.
func (l *Lister) add(slots []format.Slot, position int) (next int, named bool) {
	key, keyed := "", false
	link := format.LinkAt(slots)
	for i := range slots {
		s := &slots[i]
		if link >= 0 && i >= link && i < link+format.LinkSlots {
			key, keyed = "", false
			continue // appended by link
		}
		switch s.Type {
		case format.SlotKey:
			key, keyed, named = l.names(uint16(s.Value)), true, true
			continue
		case format.SlotInt, format.SlotUint, format.SlotFloat, format.SlotBool,
			format.SlotDuration, format.SlotString, format.SlotType_:
			if kind, ok := s.SpanKind(); ok && !keyed {
				l.args, named = append(l.args, Arg{"span.kind", format.Slot{Type: format.SlotString, Str: kind, Full: len(kind)}}), true
				continue
			}
			if !keyed && position < len(positions) {
				key = positions[position]
				position++
			}
		case format.SlotAddr:
			key, named = "addr", named || len(l.args) > 0
		case format.SlotCut:
			key, named = "cut", true
		default:
			key, named = slotName(s.Type), true
		}
		l.args = append(l.args, Arg{key, *s})
		key, keyed = "", false
	}
	return position, named
}

// slotName returns the key of a value for which this version has no meaning here.
func slotName(t format.SlotType) string {
	if name := format.SlotNames[t&15]; name != "" {
		return name
	}
	return "slot-" + strconv.Itoa(int(t))
}

// distinguish numbers repeated keys.
func (l *Lister) distinguish() {
	for i := 1; i < len(l.args); i++ {
		l.number(i)
	}
}

func (l *Lister) number(i int) {
	base := l.args[i].Key
	for n := 2; l.taken(l.args[i].Key, i); n++ {
		l.args[i].Key = base + "#" + strconv.Itoa(n)
	}
}

func (l *Lister) taken(key string, before int) bool {
	for j := range before {
		if l.args[j].Key == key {
			return true
		}
	}
	return false
}
