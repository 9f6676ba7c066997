package advice

import (
	"fmt"
	"strings"
)

// within formats a range of numbers.
func within(low, high int64) string {
	if low == high {
		return count(low)
	}
	return count(low) + " to " + count(high)
}

// count formats a number with separators.
func count[N int64 | float64](n N) string {
	s := fmt.Sprintf("%.0f", float64(n))
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	head := (len(s)-1)%3 + 1
	parts := []string{s[:head]}
	for ; head < len(s); head += 3 {
		parts = append(parts, s[head:head+3])
	}
	return sign + strings.Join(parts, ",")
}

// plural formats a number with a noun that has an irregular plural.
func plural(n float64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + more
}

// many formats a number with a noun whose plural ends in s.
func many(n float64, one string) string { return plural(n, one, one+"s") }

// bytes formats a number of bytes with its unit.
func bytes(n float64) string { return unit(n, "bytes", "kB", "MB", "GB") }

// duration formats a number of ns with its unit.
func duration(n float64) string { return unit(n, "ns", "µs", "ms", "s") }

// unit formats a number with the one of four units, a thousand apart, that needs few digits.
func unit(n float64, units ...string) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	i := 0
	for ; n >= 999.5 && i < len(units)-1; i++ {
		n /= 1000
	}
	if i == 0 {
		return fmt.Sprintf("%s%.0f %s", sign, n, units[i])
	}
	return fmt.Sprintf("%s%.3g %s", sign, n, units[i])
}
