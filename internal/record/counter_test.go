//go:build !scope_off

package record_test

import (
	"math"
	"slices"
	"testing"
	"time"

	. "github.com/scopeview/scopeview/scope"
)

// TestCounterTakesEveryNumber records the extremes of every kind of number.
func TestCounterTakesEveryNumber(t *testing.T) {
	type ratio float64
	type level int8
	type mask uint64
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		Counter("int", math.MinInt)
		Counter("int8", int8(-128))
		Counter("int16", int16(32767))
		Counter("int32", int32(math.MinInt32))
		Counter("int64", int64(math.MaxInt64))
		Counter("uint", uint(math.MaxUint))
		Counter("uint8", uint8(255))
		Counter("uint16", uint16(65535))
		Counter("uint32", uint32(math.MaxUint32))
		Counter("uint64", uint64(math.MaxUint64))
		Counter("uintptr", uintptr(1))
		Counter("float32", float32(0.25))
		Counter("float64", math.Inf(1))
		Counter("ratio", ratio(-0.5))
		Counter("level", level(-3))
		Counter("mask", mask(1<<63))
		Counter("duration", time.Second)
		r := stop(t)
		want := []string{
			`counter "int" int:-9223372036854775808`,
			`counter "int8" int:-128`,
			`counter "int16" int:32767`,
			`counter "int32" int:-2147483648`,
			`counter "int64" int:9223372036854775807`,
			`counter "uint" uint:18446744073709551615`,
			`counter "uint8" uint:255`,
			`counter "uint16" uint:65535`,
			`counter "uint32" uint:4294967295`,
			`counter "uint64" uint:18446744073709551615`,
			`counter "uintptr" uint:1`,
			`counter "float32" float:0.25`,
			`counter "float64" float:+Inf`,
			`counter "ratio" float:-0.5`,
			`counter "level" int:-3`,
			`counter "mask" uint:9223372036854775808`,
			`counter "duration" int:1000000000`,
		}
		if got := r.lines(); !slices.Equal(got, want) {
			t.Errorf("recorded\n%q, want\n%q", got, want)
		}
	})
}
