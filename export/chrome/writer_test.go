package chrome

import (
	"encoding/json"
	"math"
	"testing"
)

func TestMicros(t *testing.T) {
	for _, test := range []struct {
		ns   int64
		want string
	}{
		{0, "0.000"}, {1, "0.001"}, {999, "0.999"}, {1000, "1.000"}, {1234567, "1234.567"}, {-1, "-0.001"}, {-1000, "-1.000"},
		{math.MaxInt64, "9223372036854775.807"}, {math.MinInt64, "-9223372036854775.808"},
	} {
		got := string(appendMicros(nil, test.ns))
		if got != test.want || !json.Valid([]byte(got)) {
			t.Errorf("%d ns are %s, want %s", test.ns, got, test.want)
		}
	}
}

func TestLarge(t *testing.T) {
	for _, test := range []struct {
		size Size
		want bool
	}{
		{Size{}, false},
		{Size{Events: 1_000_000, Bytes: 256_000_000}, false},
		{Size{Events: 1_000_001}, true},
		{Size{Bytes: 256_000_001}, true},
	} {
		if got := test.size.Large(); got != test.want {
			t.Errorf("%+v: %v", test.size, got)
		}
	}
}
