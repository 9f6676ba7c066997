package args

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// slot returns the slot that the recorder would make of a Go value.
func slot(v any) format.Slot {
	switch v := v.(type) {
	case int:
		return format.Slot{Type: format.SlotInt, Value: uint64(v)}
	case int64:
		return format.Slot{Type: format.SlotInt, Value: uint64(v)}
	case uint64:
		return format.Slot{Type: format.SlotUint, Value: v}
	case float64:
		return format.Slot{Type: format.SlotFloat, Value: math.Float64bits(v)}
	case bool:
		s := format.Slot{Type: format.SlotBool}
		if v {
			s.Value = 1
		}
		return s
	case time.Duration:
		return format.Slot{Type: format.SlotDuration, Value: uint64(v)}
	case string:
		return format.Slot{Type: format.SlotString, Str: []byte(v), Full: len(v)}
	case typeName:
		return format.Slot{Type: format.SlotType_, Str: []byte(v), Full: len(v)}
	case format.Slot:
		return v
	}
	panic(fmt.Sprintf("%T", v))
}

func slots(vs ...any) []format.Slot {
	var ss []format.Slot
	for _, v := range vs {
		ss = append(ss, slot(v))
	}
	return ss
}

var keys = map[uint16]string{2: "bytes", 3: "status", 4: "user_ns", 5: "cut", 6: "text", 7: "k\"\x1b", 8: "load %s of %d", 9: "bytes#bytes"}

func cutString(s string, full int) format.Slot {
	return format.Slot{Type: format.SlotString, Str: []byte(s), Full: full}
}

func key(id uint16) format.Slot { return format.Slot{Type: format.SlotKey, Value: uint64(id)} }

func addr(v uint64) format.Slot { return format.Slot{Type: format.SlotAddr, Value: v} }

// linkSlots returns a link between other slots.
func linkSlots(before []format.Slot, after ...format.Slot) []format.Slot {
	return append(append(before, addr(10), addr(255), addr(16), addr(1<<60)), after...)
}

func calledOff(e trace.Event) trace.Event {
	e.Dur = 0
	return e
}

func lockEvent(k format.Kind, addr, holder, what uint64, more ...any) trace.Event {
	return trace.Event{Kind: k, Dur: 1, Args: append([]format.Slot{
		{Type: format.SlotAddr, Value: addr}, {Type: format.SlotGoid, Value: holder}, {Type: format.SlotUint, Value: what},
	}, slots(more...)...)}
}

func TestJSON(t *testing.T) {
	task := func(begin, end []format.Slot) trace.Event {
		return trace.Event{Kind: format.KindTask, User: -1, System: -1, Args: begin, EndArgs: end}
	}
	for _, test := range []struct {
		about string
		e     trace.Event
		want  string
	}{
		{"nothing", task(nil, nil), ``},
		{"positional", task(slots(1, "x"), nil), `{"0":1,"1":"x"}`},
		{"counted on at the end", task(slots(1), slots(2, 3)), `{"0":1,"1":2,"2":3}`},
		{"named ones don't count", task(slots(1, key(2), 9, 2), nil), `{"0":1,"bytes":9,"1":2}`},
		{"the same key at the end", task(slots(key(3), 1), slots(key(3), 2, key(3), 3)), `{"status":1,"status#2":2,"status#3":3}`},
		{"numbers", task(slots(-5, uint64(math.MaxUint64), 1.5, 1e300, int64(math.MinInt64)), nil),
			`{"0":-5,"1":18446744073709551615,"2":1.5,"3":1e+300,"4":-9223372036854775808}`},
		{"no numbers", task(slots(math.NaN(), math.Inf(1), math.Inf(-1)), nil), `{"0":"NaN","1":"+Inf","2":"-Inf"}`},
		{"bool, duration", task(slots(true, false, 1500*time.Microsecond), nil), `{"0":true,"1":false,"2":1500000}`},
		{"type", task(slots(typeName("pkg.T")), nil), `{"0":{"type":"pkg.T"}}`},
		{"a span's kind", task(linkSlots(nil, slots(typeName("scopeotel.server"), 5, key(2), typeName("scopeotel.client"))...), slots(7)),
			`{"trace_id":"000000000000000a00000000000000ff","span_id":"0000000000000010","parent_id":"1000000000000000","span.kind":"server","0":5,"bytes":{"type":"scopeotel.client"},"1":7}`},
		{"cut string", task(slots(format.Slot{Type: format.SlotString, Str: []byte("abc"), Full: 5000}), nil), `{"0":"abc","0#bytes":5000}`},
		{"cut strings with keys", task([]format.Slot{key(2), cutString("ab", 9), key(2), cutString("cd", 8), key(9), slot(1)}, nil),
			`{"bytes":"ab","bytes#2":"cd","bytes#bytes":1,"bytes#bytes#2":9,"bytes#2#bytes":8}`},
		{"cut arguments", task(slots(1, format.Slot{Type: format.SlotCut, Value: 3}), nil), `{"0":1,"cut":3}`},
		{"a key called cut", task(slots(key(5), 1, format.Slot{Type: format.SlotCut, Value: 3}), nil), `{"cut":1,"cut#2":3}`},
		{"a key without value", task(slots(1, key(2)), nil), `{"0":1}`},
		{"hostile", task(slots("\"\\\x00\x1b\n\t\x7f\xffé\u202e", key(7), 1), nil),
			`{"0":"\"\\\u0000\u001b\n\t\u007f` + "\ufffdé\u202e" + `","k\"\u001b":1}`},
		{"wait", trace.Event{Kind: format.KindWait, Args: []format.Slot{{Type: format.SlotAddr, Value: 0xc000012345}}}, `{"addr":"0xc000012345"}`},
		{"wait for a mutex", lockEvent(format.KindWait, 0x10, 7, 0x102), `{"addr":"0x10","lock":"mutex","holder":7}`},
		{"wait of a reader", lockEvent(format.KindWait, 0x10, 0, 0x201), `{"addr":"0x10","lock":"rwmutex","mode":"shared"}`},
		{"hold", lockEvent(format.KindHold, 0x10, 0, 0x002, "more", key(2), 5), `{"addr":"0x10","lock":"lock","0":"more","bytes":5}`},
		{"hold since before", lockEvent(format.KindHold, 0x10, 0, 0x100|format.LockSince|format.LockPlace), `{"addr":"0x10","lock":"mutex","at_least":true}`},
		{"a wait that was called off", calledOff(lockEvent(format.KindWait, 0x10, 0, 0x100)), `{"addr":"0x10","lock":"mutex","called_off":true}`},
		{"retry", trace.Event{Kind: format.KindWait, Dur: 1, Args: lockEvent(format.KindWait, 0, 0, 0x300).Args, EndArgs: slots(3, 4)}, `{"lock":"retry","tries":3,"0":4}`},
		{"an unknown kind of lock", lockEvent(format.KindWait, 0x10, 0, 0xff00), `{"addr":"0x10","lock":"lock"}`},
		{"counter", trace.Event{Kind: format.KindCounter, ValueType: format.SlotInt, Value: math.MaxUint64}, `{"value":-1}`},
		{"counter of floats", trace.Event{Kind: format.KindCounter, ValueType: format.SlotFloat, Value: math.Float64bits(0.25)}, `{"value":0.25}`},
		{"process", trace.Event{Kind: format.KindProcess, User: 5, System: 7, Args: slots(key(4), 1)}, `{"user_ns":5,"sys_ns":7,"user_ns#2":1}`},
		{"process, unknown", trace.Event{Kind: format.KindProcess, User: -1, System: -1}, ``},
		{"process, open", trace.Event{Kind: format.KindProcess, Open: true}, ``},
		{"taskf", trace.Event{Kind: format.KindTaskf, Name: 8, Args: slots("f.go", 3, key(6), 4)}, `{"text":"load f.go of 3","0":"f.go","1":3,"text#2":4}`},
		{"a link", task(linkSlots(slots(1), key(2), slot(2)), nil),
			`{"trace_id":"000000000000000a00000000000000ff","span_id":"0000000000000010","parent_id":"1000000000000000","0":1,"bytes":2}`},
		{"a link without span and parent", task([]format.Slot{addr(1), addr(0), addr(0), addr(0)}, slots(1)), `{"trace_id":"00000000000000010000000000000000","0":1}`},
		{"a link at the end", task(slots(1), linkSlots(slots(2))),
			`{"trace_id":"000000000000000a00000000000000ff","span_id":"0000000000000010","parent_id":"1000000000000000","0":1,"1":2}`},
		{"a link of a taskf, with a key", trace.Event{Kind: format.KindTaskf, Name: 8, Args: append([]format.Slot{key(2)}, linkSlots(nil, slot("f.go"), slot(3))...)},
			`{"text":"load f.go of 3","trace_id":"000000000000000a00000000000000ff","span_id":"0000000000000010","parent_id":"1000000000000000","0":"f.go","1":3}`},
		{"addresses that are none", task([]format.Slot{addr(0), addr(0), addr(1), addr(2)}, nil), `{"addr":"0x0","addr#2":"0x0","addr#3":"0x1","addr#4":"0x2"}`},
		{"slots of other records", task([]format.Slot{{Type: format.SlotLoc, Value: 4}, {Type: 14, Value: 5}}, nil), `{"loc":4,"begin":5}`},
	} {
		l := NewLister(func(id uint16) string { return keys[id] })
		got := string(AppendJSON(nil, l.List(&test.e)))
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.about, got, test.want)
		}
		if got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%s: %s is no JSON", test.about, got)
		}
	}
}

// TestDoubles: the numbers written by AppendDoubles keep their values as doubles.
func TestDoubles(t *testing.T) {
	for _, test := range []struct {
		v    any
		want string
	}{
		{7, `7`}, {1 << 53, `9007199254740992`}, {-1 << 53, `-9007199254740992`}, {uint64(1 << 53), `9007199254740992`},
		{1<<53 + 1, `"9007199254740993"`}, {-1<<53 - 1, `"-9007199254740993"`}, {uint64(math.MaxUint64), `"18446744073709551615"`},
		{int64(math.MinInt64), `"-9223372036854775808"`}, {time.Duration(math.MaxInt64), `"9223372036854775807"`}, {1e300, `1e+300`}, {"x", `"x"`},
	} {
		if got := string(AppendDoubles(nil, []Arg{{"v", slot(test.v)}})); got != `{"v":`+test.want+`}` {
			t.Errorf("%T %v: %s, want %s", test.v, test.v, got, test.want)
		}
	}
}

func TestMorePositionsThanSlots(t *testing.T) {
	l := NewLister(nil)
	var e trace.Event
	for i := range 100 {
		e.Args = append(e.Args, slot(i))
	}
	if got := len(l.List(&e)); got != 100 {
		t.Errorf("%d arguments", got)
	}
}

func TestListDoesNotAllocate(t *testing.T) {
	l := NewLister(func(id uint16) string { return keys[id] })
	e := trace.Event{Kind: format.KindTaskf, Name: 8, Args: slots("f.go", 3, key(3), 4), EndArgs: slots(1.5)}
	var b []byte
	if n := testing.AllocsPerRun(100, func() { b = AppendJSON(b[:0], l.List(&e)) }); n != 0 {
		t.Errorf("%v allocations for %s", n, b)
	}
}

// TestText compares texts with fmt.Sprintf.
func TestText(t *testing.T) {
	for _, test := range []struct {
		f  string
		vs []any
	}{
		{"", nil}, {"plain", nil}, {"100%%", nil}, {"%", nil}, {"%d%", []any{1}}, {"%é", []any{1}},
		{"%d of %d", []any{1, 2}}, {"%v %v %v %v %v", []any{1, uint64(2), true, "x", time.Second}},
		{"%s %q %x", []any{"a", "b", "c"}}, {"%5d|%-5d|%05d|%+d", []any{1, 2, 3, 4}}, {"%.2f %g %e %v", []any{1.5, 2.5, 3.5, 1e20}},
		{"%t %v", []any{true, false}}, {"%d", []any{"wrong"}}, {"%s", []any{5}}, {"%d %d", []any{1}}, {"%d", []any{1, 2}},
		{"none", []any{1}}, {"%[2]d %[1]d", []any{1, 2}}, {"%*d", []any{5, 1}}, {"%.*f", []any{1, 2.25}}, {"%!", []any{1}},
		{"%s %v %d", []any{time.Second, time.Millisecond, time.Second}}, {"port 80801 %x", []any{255}}, {"%%%d%%", []any{7}},
		{"%c %U", []any{65, 65}}, {"%[9]d", []any{1}}, {"% x", []any{"abc"}}, {"%8.3s|", []any{"abcdef"}},
	} {
		want := fmt.Sprintf(test.f, test.vs...)
		if got := string(appendText([]byte("> "), test.f, slots(test.vs...))); got != "> "+want {
			t.Errorf("%q %v: %q, want %q", test.f, test.vs, got, "> "+want)
		}
	}
}

func TestTextOfTraces(t *testing.T) {
	long := strings.Repeat("é", 600)
	for _, test := range []struct {
		f    string
		vs   []any
		want string
	}{
		{"%d for %v", []any{key(2), 5, 1, typeName("pkg.T")}, "1 for <pkg.T>"},
		{"%d %s", []any{typeName("pkg.T"), typeName("*x.Y")}, "<pkg.T> <*x.Y>"},
		{"%s", []any{format.Slot{Type: format.SlotString, Str: []byte("abc"), Full: 2000}}, "abc… (2000 bytes)"},
		{"%d", []any{format.Slot{Type: format.SlotCut, Value: 1}}, "%!d(MISSING)"},
		{"%9999d", []any{1}, "%9999d"},
		{"%*d", []any{100000, 1}, "%*d"},
		{"%.123456f", []any{1.5}, "%.123456f"},
		{"%x" + strings.Repeat("%[1]s", 9), []any{long}, ""},
		{"%s%s%s%s%s%s", []any{long, long, long, long, long, long}, strings.Repeat("é", maxText/2) + "… (7200 bytes)"},
	} {
		got := string(appendText(nil, test.f, slots(test.vs...)))
		if test.want != "" && got != test.want {
			t.Errorf("%q: %q, want %q", test.f, got, test.want)
		}
		if len(got) > maxText+40 || !utf8.ValidString(got) {
			t.Errorf("%q: %d bytes, valid %v", test.f, len(got), utf8.ValidString(got))
		}
	}
}

// FuzzText: there is never a panic, the text is never longer than allowed, and it
// equals fmt's if the trace has all information.
func FuzzText(f *testing.F) {
	f.Add("%d %s", int64(1), "x")
	f.Add("%[2]*[1]d%%%v%", int64(-7), "\xff")
	f.Fuzz(func(t *testing.T, format string, n int64, s string) {
		if len(format) > 1024 || len(s) > 1024 || strings.Contains(format, "T") || strings.Contains(format, "#") {
			return
		}
		ss := slots(int(n), s)
		got := string(appendText(nil, format, ss))
		if len(got) > 200<<10 {
			t.Errorf("%d bytes", len(got))
		}
		if wide(format, ss) {
			return
		}
		if want := fmt.Sprintf(format, int(n), s); got != want && len(want) <= maxText {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	})
}
