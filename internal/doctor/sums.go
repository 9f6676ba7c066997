package doctor

import (
	"cmp"
	"maps"
	"slices"
)

// most returns the up to three names with the most time, the most first, without those below
// a tenth of all.
func (m *model) most(times map[uint16]int64, all int64) (names []string) {
	ids := make([]uint16, 0, len(times))
	for n, d := range times {
		if 10*d >= all && d > 0 {
			ids = append(ids, n)
		}
	}
	slices.SortFunc(ids, func(a, b uint16) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
	for _, n := range ids[:min(len(ids), 3)] {
		names = append(names, m.name(n))
	}
	return names
}

// longest returns the key with the most time; of equal ones the lowest, as a map has no
// order.
func longest[K cmp.Ordered](times map[K]int64) (top K) {
	for k, d := range times {
		if d > times[top] || d == times[top] && k < top {
			top = k
		}
	}
	return top
}

// byTime returns the goroutines, those with the most time first.
func byTime(times map[*gor]int64) []*gor {
	return slices.SortedFunc(maps.Keys(times), func(a, b *gor) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a.id, b.id))
	})
}

// longestOf returns the goroutine with the most time; nil if there is none.
func longestOf(times map[*gor]int64) *gor {
	if len(times) == 0 {
		return nil
	}
	return byTime(times)[0]
}

func total[K comparable](times map[K]int64) (sum int64) {
	for _, d := range times {
		sum += d
	}
	return sum
}

// where returns the part of the range in which turns are dense, for a finding's time.
func (m *model) where(each func(yield func(from, to int64))) (from, to int64) {
	const buckets = 50
	var sums [buckets]int64
	width := max(m.span()/buckets, 1)
	each(func(a, b int64) {
		a, b = max(a, m.from), min(b, m.to)
		for a < b {
			i := min((a-m.from)/width, buckets-1)
			e := b
			if i < buckets-1 {
				e = min(b, m.from+(i+1)*width)
			}
			sums[i] += e - a
			a = e
		}
	})
	top := slices.Max(sums[:])
	if top == 0 {
		return m.from, m.to
	}
	first, last := -1, 0
	for i, d := range sums {
		if 4*d >= top {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	from, to = m.from+int64(first)*width, m.from+int64(last+1)*width
	if last == buckets-1 {
		to = m.to
	}
	return from, to
}
