//go:build !scope_off

package record

import "github.com/scopeview/scopeview/internal/format"

// EventArgs is an event whose arguments are added one after another, because passing each as an
// any would allocate.
type EventArgs struct {
	x    encoder
	head uint64
}

// PendingEvent is an event before its arguments.
type PendingEvent struct {
	r    *recorder
	head uint64
}

// Sizes of buffers for Into: the usual, and the largest.
const (
	EventWords    = usualWords
	MaxEventWords = bigWords
)

// BeginEvent begins an event with a message as its name. Only constants become names, so that their
// number is limited: for any other message the name is "log." and the level. On systems where
// constants can't be recognized, all messages become names until there are very many.
//
//go:noinline
func BeginEvent(message, level string) (t PendingEvent, constant bool) {
	t.r = current.Load()
	names, n := t.r.names, uint64(0)
	if e := names.cached(message); e != nil && message != "" {
		n, constant = e.Head>>48|e.Len>>63<<16, true
	} else if constant = message != "" && (names.lasts(message) || len(names.fixed) == 0 && !names.crowded()); constant {
		n = names.find(message)
	} else {
		n = names.find("log." + level)
	}
	if t.head = headEvent | n<<48; n&nameOut != 0 {
		t.r = nil
	}
	return t, constant
}

// Recorded reports whether the event is recorded, and not filtered out.
func (t PendingEvent) Recorded() bool { return t.r != nil }

// Into returns the event with a buffer for its arguments. It is inlined, so that nothing is
// copied.
func (t PendingEvent) Into(buf []uint64) EventArgs {
	return EventArgs{encoder{w: buf, r: t.r, n: 1}, t.head}
}

// Number adds a one-word value whose name is prefix and key.
func (t *EventArgs) Number(prefix, key string, of format.SlotType, bits uint64) {
	x, id := &t.x, t.name(prefix, key)
	if x.slots >= format.MaxSlots-2 || x.n+3 > len(x.w) { // one slot is kept for the number of dropped arguments
		x.cut++
		return
	}
	x.types |= uint64(format.SlotKey|of<<4) << (4 * x.slots)
	x.w[x.n], x.w[x.n+1] = id&nameID, bits
	x.n, x.slots = x.n+2, x.slots+2
}

// Text adds a string, or the name of a type.
func (t *EventArgs) Text(prefix, key string, of format.SlotType, s string) {
	x, id := &t.x, t.name(prefix, key)
	if n := x.n + 2; len(s) <= 8 && x.slots < format.MaxSlots-2 && n+1 < len(x.w) { // the usual case
		x.types |= uint64(format.SlotKey|of<<4) << (4 * x.slots)
		x.w[n-2], x.w[n-1] = id&nameID, uint64(len(s))|uint64(len(s))<<32
		if x.n, x.slots = n, x.slots+2; len(s) == 8 {
			x.w[n] = load8(s)
			x.n++
		} else if s != "" {
			x.w[n] = loadTail(s)
			x.n++
		}
		return
	}
	m := x.mark()
	x.key(id)
	if x.text(of, s); x.cut > m.cut {
		x.back(m)
	}
}

// Any adds a value as scope.Event does.
func (t *EventArgs) Any(prefix, key string, v any) {
	m := t.x.mark()
	t.x.key(t.name(prefix, key))
	if t.x.add(&v); t.x.cut > m.cut {
		t.x.back(m)
	}
}

func (t *EventArgs) name(prefix, key string) uint64 {
	if prefix == "" {
		return t.x.r.names.find(key)
	}
	var b [64]byte
	return t.x.r.names.find(string(append(append(b[:0], prefix...), key...)))
}

// Link adds a link, which must not be zero.
func (t *EventArgs) Link(l *format.Link) { t.x.linked(l) }

// Cut reports whether an argument did not fit.
func (t *EventArgs) Cut() bool { return t.x.cut > 0 }

// Event records the instant.
func (t *EventArgs) Event() {
	t.x.countCut()
	t.x.r.put(&[4]uint64{2: t.head}, &t.x, 1)
}
