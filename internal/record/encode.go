//go:build !scope_off

package record

import (
	"math"
	"reflect"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// encoder builds an extension: a header word, then the slots' values. It stores the arguments
// and formats nothing. The caller provides its memory.
type encoder struct {
	r     *recorder
	w     []uint64 // w[0] is the header word
	n     int      // words used, the header included
	slots int
	types uint64
	cut   uint64 // dropped arguments
	link  bool   // whether there is a link among them
	short bool   // whether a string was cut
	at    int64  // start of the scope, in ticks; 0: now
}

// Arg is a named argument; see KV.
type Arg struct {
	key   string
	value any
}

// KV returns a named argument.
func KV(key string, value any) Arg { return Arg{key, value} }

// Sizes of the buffers on callers' stacks, in words: the usual, and the largest extension
// possible. A buffer is cleared at each use.
const (
	smallWords = 8
	usualWords = 16
	bigWords   = format.MaxExtUnits * format.RecordSize / 8
)

func float(f float64) uint64 { return math.Float64bits(f) }

// beginArgs begins a scope with arguments, and with a link unless it is nil. The assembly
// handles a few ints. This function handles the other frequent arguments (ints, short strings,
// and either with a name), and the encoder all others.
func (r *recorder) beginArgs(head uint64, args []any, link *format.Link) Handle {
	var w [usualWords]uint64
	n, shift, types := 1, 0, uint64(0)
	if link != nil {
		ids := link.Words()
		n += copy(w[1:], ids[:])
		shift, types = 4*format.LinkSlots, uint64(format.SlotAddr)*0x1111
	}
	for i := range args {
		a := &args[i]
		if kv, ok := (*a).(Arg); ok {
			if n >= len(w)-1 || shift >= 4*(format.MaxSlots-2) {
				return r.beginBig(head, args, link)
			}
			if e := r.names.cached(kv.key); e != nil {
				w[n] = e.Head >> 48
			} else {
				w[n] = r.names.slow(kv.key, false) & nameID
			}
			n++
			types |= uint64(format.SlotKey) << shift
			shift += 4
			a = &kv.value
		}
		if n >= len(w)-1 || shift >= 4*(format.MaxSlots-1) {
			return r.beginBig(head, args, link)
		}
		switch v := (*a).(type) {
		case int:
			w[n] = uint64(v)
			n++
			types |= uint64(format.SlotInt) << shift
		case string:
			if len(v) > 8*(len(w)-n-2) {
				return r.beginBig(head, args, link)
			}
			w[n] = uint64(len(v)) | uint64(len(v))<<32
			n++
			rest := v
			for ; len(rest) >= 8; rest = rest[8:] {
				w[n&(usualWords-1)] = load8(rest)
				n++
			}
			if len(rest) > 0 {
				if len(v) >= 8 {
					// The last eight bytes, without those already stored.
					w[n&(usualWords-1)] = load8(v[len(v)-8:]) >> (64 - 8*uint(len(rest)))
				} else {
					w[n&(usualWords-1)] = loadTail(rest)
				}
				n++
			}
			types |= uint64(format.SlotString) << shift
		default:
			return r.beginBig(head, args, link)
		}
		shift += 4
	}
	reason := int64(0)
	if r.fast != nil {
		u := (n + 3) / 4
		w[0] = format.ExtHeader(u, types)
		loc, start := sys.BeginExt(head|format.ExtBit, r.gen, &w[0], int64(u), 0)
		if start != 0 {
			return Handle{Loc: loc, Start: start}
		}
		reason = loc
	}
	x := encoder{w: w[:], r: r, n: n, types: types, slots: shift / 4, link: link != nil}
	if r.fast == nil {
		return r.gopath.begin(head, &x)
	}
	return r.beginSlow(head, &x, reason)
}

// load8 returns the first eight bytes of s as a word; the compiler makes it one load.
func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// loadTail returns up to seven bytes as a word, padded with zeros.
func loadTail(s string) (v uint64) {
	i := 0
	if len(s)&4 != 0 {
		v = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
		i = 4
	}
	if len(s)&2 != 0 {
		v |= (uint64(s[i]) | uint64(s[i+1])<<8) << (8 * i)
		i += 2
	}
	if len(s)&1 != 0 {
		v |= uint64(s[i]) << (8 * i)
	}
	return v
}

func (r *recorder) beginBig(head uint64, args []any, link *format.Link) Handle {
	if r.refuse() {
		return Handle{}
	}
	var buf [bigWords]uint64
	x := encoder{w: buf[:], r: r}
	x.addAll(link, args)
	x.countCut()
	return r.begin(head, &x)
}

// countCut counts a record whose arguments are incomplete.
func (x *encoder) countCut() {
	if x.cut > 0 || x.short {
		x.r.argsCut.Add(1)
	}
}

// putArgs writes a complete record with arguments.
func (r *recorder) putArgs(rec *[4]uint64, args []any) {
	if len(args) == 0 {
		r.put(rec, nil, 1)
		return
	}
	if r.refuse() {
		return
	}
	var buf [usualWords]uint64
	x := encoder{w: buf[:], r: r}
	if x.addAll(nil, args); x.cut > 0 {
		r.putBig(rec, args)
		return
	}
	r.put(rec, &x, 1)
}

//go:noinline
func (r *recorder) putBig(rec *[4]uint64, args []any) {
	var buf [bigWords]uint64
	x := encoder{w: buf[:], r: r}
	x.addAll(nil, args)
	x.countCut()
	r.put(rec, &x, 1)
}

// units finishes the header word and returns the extension's length in units.
func (x *encoder) units() int64 {
	if x.n == 0 {
		x.n = 1
	}
	if x.cut > 0 && x.slots <= format.MaxSlots {
		// The last slot holds the number of dropped arguments; add has kept it free.
		x.types |= uint64(format.SlotCut) << (4 * (x.slots))
		x.w[x.n] = x.cut
		x.n++
		x.slots++
		x.cut = 0
	}
	u := int64(x.n+3) / 4
	x.w[0] = format.ExtHeader(int(u), x.types)
	return u
}

// room reports whether n more words fit, with a slot for them and one for the number of dropped
// arguments.
func (x *encoder) room(n int) bool {
	if x.n == 0 {
		x.n = 1
	}
	return x.slots < format.MaxSlots-1 && x.n+n+1 <= len(x.w)
}

func (x *encoder) slot(t format.SlotType, v uint64) {
	if !x.room(1) {
		x.cut++
		return
	}
	x.types |= uint64(t) << (4 * x.slots)
	x.w[x.n] = v
	x.n++
	x.slots++
}

// place stores the position of a scope's begin, for an end apart. Later code sets w[2], the
// goroutine that began it, and w[3], word 2 of its record; 0 means unknown.
func (x *encoder) place(loc int64) {
	x.slot(format.SlotLoc, uint64(loc))
	x.slot(format.SlotGoid, 0)
	x.slot(format.SlotBegin, 0)
}

// cpu adds the process's CPU time.
func (x *encoder) cpu(user, system int64) {
	x.slot(format.SlotUser, uint64(user))
	x.slot(format.SlotSystem, uint64(system))
}

// text adds a string, cut to format.MaxString bytes, with its full length. If there is no room,
// the argument is dropped.
func (x *encoder) text(t format.SlotType, s string) {
	full := len(s)
	if len(s) > format.MaxString {
		s, x.short = s[:format.MaxString], true
	}
	if !x.room(1 + (len(s)+7)/8) {
		x.cut++
		return
	}
	x.types |= uint64(t) << (4 * x.slots)
	x.slots++
	x.w[x.n] = uint64(len(s)) | uint64(uint32(full))<<32
	x.n++
	for ; len(s) >= 8; s = s[8:] {
		x.w[x.n] = load8(s)
		x.n++
	}
	if len(s) > 0 {
		x.w[x.n] = loadTail(s)
		x.n++
	}
}

// addAll adds a link, unless it is nil, and the arguments.
func (x *encoder) addAll(link *format.Link, args []any) {
	if link != nil {
		x.linked(link)
	}
	for i := range args {
		x.add(&args[i])
	}
}

// add adds one argument by its type, or by its type's kind. It calls no method of the value.
func (x *encoder) add(a *any) {
	t, bits := format.SlotInt, uint64(0)
	switch v := (*a).(type) {
	case int:
		bits = uint64(v)
	case string:
		x.text(format.SlotString, v)
		return
	case Arg:
		x.named(&v)
		return
	case format.Link:
		x.linked(&v)
		return
	case int64:
		bits = uint64(v)
	case uint64:
		t, bits = format.SlotUint, v
	case float64:
		t, bits = format.SlotFloat, float(v)
	case bool:
		t, bits = format.SlotBool, bit(v)
	case time.Duration:
		t, bits = format.SlotDuration, uint64(v)
	case nil:
		x.text(format.SlotType_, "nil")
		return
	default:
		typ := reflect.TypeOf(*a)
		k := typ.Kind()
		if k == reflect.String {
			x.text(format.SlotString, sys.Text(a))
			return
		}
		if k > reflect.Float64 {
			x.text(format.SlotType_, typ.String())
			return
		}
		switch bits = sys.Value(a, typ.Size()); {
		case k == reflect.Bool:
			t = format.SlotBool
		case k <= reflect.Int64:
			sign := 64 - 8*typ.Size()
			bits = uint64(int64(bits<<sign) >> sign)
		case k <= reflect.Uintptr:
			t = format.SlotUint
		case k == reflect.Float32:
			t, bits = format.SlotFloat, float(float64(math.Float32frombits(uint32(bits))))
		default:
			t = format.SlotFloat
		}
	}
	x.slot(t, bits)
}

// linked adds a link, whole or not at all. A record has at most one.
func (x *encoder) linked(l *format.Link) {
	if !l.Valid() {
		return
	}
	if x.n = max(x.n, 1); x.link || x.slots+format.LinkSlots > format.MaxSlots-1 || x.n+format.LinkSlots+1 > len(x.w) {
		x.cut++
		return
	}
	x.link = true
	for _, id := range l.Words() {
		x.slot(format.SlotAddr, id)
	}
}

// named adds a named argument: its key, then its value, or neither.
func (x *encoder) named(v *Arg) {
	// A copy: a pointer that changes to what the loop declares would move that, and with it all
	// arguments, to the heap.
	a := *v
	for {
		// A named argument whose value is one: the inner name is the better one.
		inner, ok := a.value.(Arg)
		if !ok {
			break
		}
		a = inner
	}
	m := x.mark()
	x.key(x.r.names.find(a.key))
	if x.add(&a.value); x.cut > m.cut {
		x.back(m)
	}
}

// key adds the key of the value that follows, if there is room for both.
func (x *encoder) key(id uint64) {
	if x.slots >= format.MaxSlots-2 {
		x.cut++
		return
	}
	x.slot(format.SlotKey, id&nameID)
}

// mark is an encoder's state, to return to when something does not fit.
type mark struct {
	n, slots   int
	types, cut uint64
}

func (x *encoder) mark() mark { return mark{x.n, x.slots, x.types, x.cut} }

// back returns to a mark, and counts a dropped argument. It clears the words written since:
// after its last slot an extension is zero.
func (x *encoder) back(m mark) {
	clear(x.w[m.n:x.n])
	x.n, x.slots, x.types, x.cut = m.n, m.slots, m.types, m.cut+1
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
