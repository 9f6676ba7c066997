// Package show formats numbers, units and names for people: each kind of value in one way.
package show

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// A quantity is a number of something. Floats are estimates; they are rounded to integers.
type quantity interface {
	~int | ~int64 | ~uint32 | ~uint64 | ~float64
}

// isFloat reports whether N is a floating-point type.
func isFloat[N quantity]() bool {
	half := 0.5
	return N(half) != 0
}

// whole rounds n to an integer.
func whole[N quantity](n N) int64 {
	if isFloat[N]() {
		return int64(math.Round(float64(n)))
	}
	return int64(n)
}

// Duration formats ns with three significant digits: 19ns, 1.23µs, 45.6ms, 789ms, 12.3s; from ten
// minutes on 12m34s and 3h25m.
func Duration[N quantity](nanoseconds N) string {
	ns := whole(nanoseconds)
	if ns < 0 {
		return "-" + Duration(-max(ns, -1<<62))
	}
	if ns < 1000 {
		return strconv.FormatInt(ns, 10) + "ns"
	}
	v := float64(ns)
	for _, unit := range []string{"µs", "ms"} {
		if v /= 1000; v < 999.5 {
			return three(v) + unit
		}
	}
	if v /= 1000; v < 600 {
		return three(v) + "s"
	}
	d := time.Duration(ns)
	if d < 10*time.Hour {
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// three formats a value below 1000 with three significant digits.
func three(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Count formats an integer with commas: 1,234,567.
func Count[N quantity](n N) string {
	var s, sign string
	switch {
	case isFloat[N]():
		s = strconv.FormatFloat(math.Round(float64(n))+0, 'f', 0, 64) // 0 is added to -0
	case n < 0:
		s = strconv.FormatInt(int64(n), 10)
	default:
		s = strconv.FormatUint(uint64(n), 10)
	}
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Size formats a number of bytes: 512 B, 1.50 KiB, 23.4 MiB.
func Size[N quantity](bytes N) string {
	n := whole(bytes)
	if n < 0 {
		return "-" + Size(-max(n, -1<<62))
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v := float64(n) / 1024
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if v < 999.5 {
			return three(v) + " " + unit
		}
		v /= 1024
	}
	return three(v) + " TiB"
}

// Percent formats a share from 0 to 1: 41%, 5.5%. A positive share is never 0%, but <0.1%, and one
// below 1 never 100%, but 99.9%.
func Percent[N ~float64](share N) string {
	p := 100*float64(share) + 0 // 0 is added to -0
	switch {
	case p < 0 && p > -0.1:
		return ">-0.1%"
	case p < 0:
		return "-" + Percent(-share)
	case p > 0 && p < 0.1:
		return "<0.1%"
	case p < 9.95 && p != float64(int(p)):
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	case p > 99 && p < 100:
		return strconv.FormatFloat(min(p, 99.9), 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// Hundredths formats a share in percent with two decimals, below a head that has the sign.
func Hundredths(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) }

// Seconds formats a duration in seconds with three decimals, below a head that has the unit.
func Seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) }

// Change formats a relative change with its sign: +5.3%, -41.0%. It has one digit more than Percent, for
// the bounds of intervals.
func Change(share float64) string {
	p := math.Round(1000*share)/10 + 0 // 0 is added to -0
	text := strconv.FormatFloat(p, 'f', 1, 64) + "%"
	if p > 0 {
		text = "+" + text
	}
	return text
}

// Growth formats the ratio of a value to the one before as a change, and from 10 on as a factor: +50%,
// -3%, ×12.3.
func Growth(ratio float64) string {
	switch {
	case ratio >= 10:
		return "×" + strconv.FormatFloat(ratio, 'g', 3, 64)
	case ratio > 1:
		return "+" + Percent(ratio-1)
	}
	return "-" + Percent(1-ratio)
}

// Ratio formats a quotient, such as CPU time over wall time, with two decimals: 2.41.
func Ratio(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// Plural formats a number with its noun: 1 scope, 2,000 scopes.
func Plural[N quantity](n N, noun string) string { return Either(n, noun, noun+"s") }

// Either formats a number with a noun whose plural is irregular: 1 entry, 2,000 entries.
func Either[N quantity](n N, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + more
}

// Between formats a range of counts: 3 to 17, or 3 if both ends are equal.
func Between[N quantity](low, high N) string {
	if low == high {
		return Count(low)
	}
	return Count(low) + " to " + Count(high)
}

// Number formats a value of any size: an integer with commas, others with four significant digits.
func Number(v float64) string {
	if v == float64(int64(v)) && v > -1e15 && v < 1e15 {
		return Count(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
