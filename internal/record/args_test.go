//go:build !scope_off

package record_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/scopeview/scopeview/scope"
)

type (
	myInt    int
	myInt16  int16
	myUint8  uint8
	myFloat  float32
	myBool   bool
	myString string
)

// hostile has every method by which a value is usually formatted. They must
// never be called; neither must those of a numeric type.
type hostile struct{ a, b int }

func (hostile) String() string                 { panic("String was called") }
func (hostile) GoString() string               { panic("GoString was called") }
func (hostile) Error() string                  { panic("Error was called") }
func (hostile) Format(fmt.State, rune)         { panic("Format was called") }
func (hostile) MarshalText() ([]byte, error)   { panic("MarshalText was called") }
func (hostile) MarshalJSON() ([]byte, error)   { panic("MarshalJSON was called") }
func (hostile) MarshalBinary() ([]byte, error) { panic("MarshalBinary was called") }
func (hostile) LogValue() any                  { panic("LogValue was called") }

type hostileInt int

func (hostileInt) String() string { panic("String was called") }
func (hostileInt) Error() string  { panic("Error was called") }

type pointerShaped struct{ _ *int }

// TestArguments passes every kind of value to Task, alone and named, and to the
// other functions that take arguments.
func TestArguments(t *testing.T) {
	cases := []struct {
		value any
		want  string
	}{
		{int(math.MinInt), "int:-9223372036854775808"},
		{int8(-128), "int:-128"},
		{int16(-32768), "int:-32768"},
		{int32(math.MinInt32), "int:-2147483648"},
		{int64(math.MaxInt64), "int:9223372036854775807"},
		{'x', "int:120"},
		{uint(math.MaxUint), "uint:18446744073709551615"},
		{uint8(255), "uint:255"},
		{uint16(65535), "uint:65535"},
		{uint32(math.MaxUint32), "uint:4294967295"},
		{uint64(math.MaxUint64), "uint:18446744073709551615"},
		{uintptr(4096), "uint:4096"},
		{float32(0.5), "float:0.5"},
		{math.Pi, "float:3.141592653589793"},
		{math.Inf(-1), "float:-Inf"},
		{math.NaN(), "float:NaN"},
		{true, "bool:true"},
		{false, "bool:false"},
		{90 * time.Second, "duration:1m30s"},
		{"", `string:""`},
		{"1234567", `string:"1234567"`},
		{"12345678", `string:"12345678"`},
		{"123456789", `string:"123456789"`},
		{"a\x00\xffb", `string:"a\x00\xffb"`},
		{myInt(-5), "int:-5"},
		{myInt16(-6), "int:-6"},
		{myUint8(200), "uint:200"},
		{myFloat(-1.5), "float:-1.5"},
		{myBool(true), "bool:true"},
		{myString("mine"), `string:"mine"`},
		{time.March, "int:3"},
		{hostileInt(9), "int:9"},

		{nil, `type:"nil"`},
		{hostile{1, 2}, `type:"record_test.hostile"`},
		{&hostile{}, `type:"*record_test.hostile"`},
		{(*hostile)(nil), `type:"*record_test.hostile"`},
		{errors.New("text"), `type:"*errors.errorString"`},
		{pointerShaped{}, `type:"record_test.pointerShaped"`},
		{[]byte("bytes"), `type:"[]uint8"`},
		{[1]int{5}, `type:"[1]int"`},
		{map[string]int{}, `type:"map[string]int"`},
		{make(chan int), `type:"chan int"`},
		{func() {}, `type:"func()"`},
		{complex(1, 2), `type:"complex128"`},
		{time.Time{}, `type:"time.Time"`},
		{struct{}{}, `type:"struct {}"`},
		{Span{}, `type:"scope.Span"`},
	}
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		for _, c := range cases {
			Task("task", c.value)()
			Task("task", 1, c.value)()
			Task("key", KV("k", c.value))()
			Taskf("taskf %v", c.value)()
			Event("event", c.value)
			Process("process", c.value)()
			Pending("pending", c.value)()
			Begin("end").End(c.value, KV("k", c.value))
		}
		r := stop(t)
		lines := r.lines()
		for _, c := range cases {
			want := []string{
				`task "task" | ` + c.want,
				`task "task" | int:1 ` + c.want,
				`task "key" | k=` + c.want,
				`taskf "taskf %v" | ` + c.want,
				`event "event" | ` + c.want,
				`process "process" | ` + c.want,
				`pending "pending" | ` + c.want,
				`task "end" || ` + c.want + ` k=` + c.want,
			}
			if len(lines) < len(want) {
				t.Fatalf("%d events", len(r.events))
			}
			got := lines[:len(want)]
			if lines = lines[len(want):]; !slices.Equal(got, want) {
				t.Errorf("%T: recorded\n%q, want\n%q", c.value, got, want)
			}
		}
		if n := Stats().Misuse.ArgsCut; n != 0 {
			t.Errorf("%d records are said to be cut", n)
		}
	})
}

// TestKeys checks keys: they are names, and a named argument within a named
// argument keeps the inner name.
func TestKeys(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		Event("e", KV("", 1), KV("twice", KV("inner", 2)), KV("ключ", 3), KV("e", 4))
		r := stop(t)
		if got, want := r.lines()[0], `event "e" | =int:1 inner=int:2 ключ=int:3 e=int:4`; got != want {
			t.Errorf("recorded %s, want %s", got, want)
		}
	})
}

// TestCutArguments passes more than fits: what fits is kept, the number of
// missing arguments is recorded, and the record is counted.
func TestCutArguments(t *testing.T) {
	kilo, more := strings.Repeat("k", 1024), strings.Repeat("m", 1025)
	many := make([]any, 20)
	for i := range many {
		many[i] = i
	}
	long := make([]any, 12)
	for i := range long {
		long[i] = kilo
	}
	cases := []struct {
		name string
		args []any
		want string
		cut  int64
	}{
		{"1 KiB", []any{kilo}, `string:"` + kilo + `"`, 0},
		{"more than 1 KiB", []any{more}, "string:1024 of 1025 bytes", 1},
		{"cut and named", []any{KV("k", more), 1}, "k=string:1024 of 1025 bytes int:1", 1},
		{"11 numbers", many[:11], "int:0 int:1 int:2 int:3 int:4 int:5 int:6 int:7 int:8 int:9 int:10", 0},
		{"12 numbers", many[:12], "int:0 int:1 int:2 int:3 int:4 int:5 int:6 int:7 int:8 int:9 int:10 cut:1", 1},
		{"20 numbers", many, "int:0 int:1 int:2 int:3 int:4 int:5 int:6 int:7 int:8 int:9 int:10 cut:9", 1},
		{"12 long strings", long, strings.Repeat(`string:"`+kilo+`" `, 7) + "cut:5", 1},
		{"6 named", []any{KV("a", 1), KV("b", 2), KV("c", 3), KV("d", 4), KV("e", 5), KV("f", 6)},
			"a=int:1 b=int:2 c=int:3 d=int:4 e=int:5 cut:1", 1},
	}
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var want []string
		cut := int64(0)
		for _, c := range cases {
			Task(c.name, c.args...)()
			Event(c.name, c.args...)
			want = append(want, fmt.Sprintf("task %q | %s", c.name, c.want), fmt.Sprintf("event %q | %s", c.name, c.want))
			cut += 2 * c.cut
		}
		r := stop(t)
		if got := r.lines(); !slices.Equal(got, want) {
			t.Errorf("recorded\n%q, want\n%q", got, want)
		}
		if n := Stats().Misuse.ArgsCut; n != cut {
			t.Errorf("ArgsCut is %d, want %d", n, cut)
		}
	})
}

// TestCutEndArguments does the same for the arguments of an end. Three fewer
// slots fit, because an end apart holds the scope's identity and position.
func TestCutEndArguments(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		Begin("fits").End(1, 2, 3, 4, 5, 6, 7, 8)
		Begin("cut").End(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
		Begin("text").End(strings.Repeat("x", 3000))
		r := stop(t)
		for i, want := range []string{
			"int:1 int:2 int:3 int:4 int:5 int:6 int:7 int:8",
			"int:1 int:2 int:3 int:4 int:5 int:6 int:7 int:8 cut:2",
			"string:1024 of 3000 bytes",
		} {
			if got := r.events[i].endArgs; got != want {
				t.Errorf("recorded %s, want %s", got, want)
			}
		}
		if n := Stats().Misuse.ArgsCut; n != 2 {
			t.Errorf("ArgsCut is %d, want 2", n)
		}
	})
}
