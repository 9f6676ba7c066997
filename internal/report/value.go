package report

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/scopeview/scopeview/internal/show"
)

// cellText formats a value. Each unit has one format.
func cellText(v reflect.Value, unit string) string {
	switch x := v.Interface().(type) {
	case Int:
		if x.Kind == Unknown {
			return "-"
		}
		return x.Kind.String() + cellText(reflect.ValueOf(x.N), unit)
	case Float:
		if x.Kind == Unknown {
			return "-"
		}
		return x.Kind.String() + cellText(reflect.ValueOf(x.N), unit)
	}
	switch v.Kind() {
	case reflect.String:
		return Name(v.String())
	case reflect.Bool:
		if v.Bool() {
			return "yes"
		}
		return ""
	case reflect.Float64:
		switch Unit(unit) {
		case Share:
			return show.Percent(v.Float())
		case Nanoseconds:
			return show.Duration(v.Float())
		case Ratio, "CPUs":
			return show.Ratio(v.Float())
		case "bytes per second":
			return show.Size(v.Float()) + "/s"
		case "share":
			return show.Hundredths(v.Float())
		}
		return show.Number(v.Float())
	}
	n := v.Convert(reflect.TypeFor[int64]()).Int()
	switch unit {
	case "ns":
		return show.Duration(n)
	case "bytes":
		return show.Size(n)
	case "line", "lines", "number": // such as a process number: these units count nothing
		return strconv.FormatInt(n, 10)
	}
	if v.CanUint() {
		return show.Count(v.Uint())
	}
	return show.Count(n)
}

// number returns a value as a float, NaN if it is unknown, a bound, or no number.
func number(v reflect.Value) float64 {
	switch x := v.Interface().(type) {
	case Int:
		return Or(x.N, x.known())
	case Float:
		return Or(x.N, x.known())
	case bool:
		return NaN
	}
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return NaN
}

// Kind is the kind of knowledge about a number.
type Kind uint8

// Kinds of numbers.
const (
	Unknown Kind = iota
	Exact
	About   // estimated
	AtLeast // a lower bound
	AtMost  // an upper bound
)

// String returns the sign that precedes a number of the kind.
func (k Kind) String() string { return [...]string{"", "", "≈ ", "≥ ", "≤ "}[k] }

// A Number is a number that may be unknown, estimated, or a bound. The zero value is unknown.
type Number[T int64 | float64] struct {
	N    T
	Kind Kind
}

// Int and Float are the numbers of rows.
type (
	Int   = Number[int64]
	Float = Number[float64]
)

// Known returns n as an exact number if ok, else an unknown one.
func Known[T int64 | float64](n T, ok bool) Number[T] {
	if !ok {
		return Number[T]{}
	}
	return Number[T]{n, Exact}
}

func (n Number[T]) known() bool { return n.Kind == Exact || n.Kind == About }

// Plus returns the sum of two numbers. Its kind is the weaker one of theirs.
func (n Number[T]) Plus(m Number[T]) Number[T] {
	if n.Kind == Unknown || m.Kind == Unknown {
		return Number[T]{}
	}
	return Number[T]{n.N + m.N, max(n.Kind, m.Kind)}
}

// MarshalJSON implements json.Marshaler. Bounds and unknown numbers are null, because documents
// have no place for the kind.
func (n Number[T]) MarshalJSON() ([]byte, error) {
	if !n.known() {
		return []byte("null"), nil
	}
	return json.Marshal(n.N)
}

// A Sample is a value recorded by the program. In documents, NaN and infinities are strings.
type Sample float64

// MarshalJSON implements json.Marshaler.
func (s Sample) MarshalJSON() ([]byte, error) {
	if v := float64(s); v-v != 0 {
		return json.Marshal(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return json.Marshal(float64(s))
}
