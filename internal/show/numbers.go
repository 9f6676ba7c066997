// Package show formats numbers, units and names for people: each kind of value in one way.
package show

import (
	"fmt"
	"strconv"
	"time"
)

// Duration is a duration with three significant digits: 19ns, 1.23µs, 45.6ms,
// 789ms, 12.3s, and from ten minutes on 12m34s and 3h25m.
func Duration(ns int64) string {
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

// three writes three significant digits of a value below 1000.
func three(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Count is an integer with commas: 1,234,567.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Size is a number of bytes: 512 B, 1.50 KiB, 23.4 MiB.
func Size(n int64) string {
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

// Percent is a share in percent; what is not 0 does not look like it.
func Percent(share float64) string {
	p := 100 * share
	switch {
	case p > 0 && p < 0.1:
		return "<0.1%"
	case p < 9.95 && p != float64(int(p)):
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	case p > 99 && p < 100:
		return strconv.FormatFloat(min(p, 99.9), 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// Hundredths is a share in percent with two decimals, below a head that has the sign.
func Hundredths(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) }

// Seconds is a duration in seconds with three decimals, below a head that has the unit.
func Seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) }

// Plural is a number with its noun: 1 scope, 2,000 scopes.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Number writes a value of any size: whole ones with commas, others with four digits.
func Number(v float64) string {
	if v == float64(int64(v)) && v > -1e15 && v < 1e15 {
		return Count(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
