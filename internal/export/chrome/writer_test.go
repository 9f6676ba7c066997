package chrome

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
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

// span is an event as a reader parses it.
type span struct {
	TS, Dur  float64
	from, to int64
}

func spanOf(t *testing.T, from, to int64) span {
	t.Helper()
	x := span{from: from, to: to}
	var w writer
	b := append(w.appendSpan([]byte(`{"ph":"X"`), from, to), '}')
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return x
}

// readers compute the begin and the end of a span as viewers do, in a trace whose first
// event begins at zero.
var readers = map[string]func(x span, zero float64) (begin, end float64){
	"as it is":   func(x span, _ float64) (float64, float64) { return x.TS, x.TS + x.Dur },
	"speedscope": func(x span, zero float64) (float64, float64) { return x.TS - zero, x.TS - zero + x.Dur },
	"rounding": func(x span, _ float64) (float64, float64) {
		ns := math.Round(x.TS * 1000)
		return ns, ns + math.Round(x.Dur*1000)
	},
	"catapult": func(x span, _ float64) (float64, float64) {
		return math.Round(x.TS / 1000 * 1e6), math.Round((x.TS/1000 + x.Dur/1000) * 1e6)
	},
}

// TestSpansNest: computed begins and ends are in the order of the times, and those of one
// time are equal.
func TestSpansNest(t *testing.T) {
	compare := func(a, b span, zero float64) {
		t.Helper()
		for name, read := range readers {
			if name == "catapult" && max(a.to, b.to) > 1<<49 {
				continue // in milliseconds, a double has no nanoseconds after a week
			}
			beginA, endA := read(a, zero)
			beginB, endB := read(b, zero)
			for _, c := range []struct {
				what     string
				ns       [2]int64
				computed [2]float64
			}{
				{"begins", [2]int64{a.from, b.from}, [2]float64{beginA, beginB}},
				{"ends", [2]int64{a.to, b.to}, [2]float64{endA, endB}},
				{"an end and a begin", [2]int64{a.to, b.from}, [2]float64{endA, beginB}},
			} {
				if cmp.Compare(c.ns[0], c.ns[1]) != cmp.Compare(c.computed[0], c.computed[1]) {
					t.Fatalf("%s, from %v: %s of %+v and %+v are %v", name, zero, c.what, a, b, c.computed)
				}
			}
		}
		for _, x := range []span{a, b} {
			if ts, dur := int64(math.Round(x.TS*1000)), int64(math.Round(x.Dur*1000)); ts != x.from || dur != x.to-x.from {
				t.Fatalf("%+v has not its nanoseconds", x)
			}
		}
	}
	// With three decimals the inner one ends after the outer one.
	outer, inner := spanOf(t, 1779692866, 1779695106), spanOf(t, 1779693006, 1779695106)
	if ts, dur, in, short := 1779692.866, 2.24, 1779693.006, 2.1; ts+dur >= in+short {
		t.Error("these two would nest with three decimals too")
	}
	compare(outer, inner, 0)
	compare(outer, inner, spanOf(t, 1500, 1500).TS)
	for ns := range int64(5000) { // one begins where another ends, at every point of the grid
		compare(spanOf(t, ns/3, ns), spanOf(t, ns, 2*ns+1), spanOf(t, ns/7, ns).TS)
		compare(spanOf(t, ns, 5000), spanOf(t, ns/2, 5000), 0)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const most = 1 << 53 / grid * 1000 // 25 days
	for range 20_000 {
		scale := int64(1) << random.IntN(52)
		a := random.Int64N(min(scale, most/2))
		b := a + random.Int64N(min(scale, most-a)) + 1
		c := a + random.Int64N(b-a)
		zero := spanOf(t, random.Int64N(a+1), b).TS
		compare(spanOf(t, a, b), spanOf(t, c, b), zero) // end together
		compare(spanOf(t, a, c), spanOf(t, c, b), zero) // touch
		compare(spanOf(t, a, b), spanOf(t, a, c), zero) // begin together
		compare(spanOf(t, a, b), spanOf(t, c, c+random.Int64N(b-c)), zero)
	}
}

// TestSpansBeyond: times beyond the precision of a double are still in order.
func TestSpansBeyond(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		a, b := random.Int64(), random.Int64()
		if random.IntN(2) == 0 {
			a, b = -a, -b
		}
		if x, y := micros(min(a, b)), micros(max(a, b)); x > y {
			t.Fatalf("%d and %d are %v and %v", min(a, b), max(a, b), x, y)
		}
	}
	if x := micros(math.MinInt64); x != -micros(math.MaxInt64) {
		t.Errorf("the first moment is %v", x)
	}
}
