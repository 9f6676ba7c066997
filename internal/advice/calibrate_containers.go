package advice

import (
	"regexp"
	"slices"
	"sort"
	"sync"
)

// operation measures a weight: f performs it n times, and returns the number of the weight's
// units.
type operation struct {
	weight string
	f      func(n int) (units int)
}

// measured are the operations on memory, containers and strings.
var measured = []operation{
	{copyByte, func(n int) int {
		const size, several = 1 << 18, 64 // larger than the second-level cache, as for an array that was just allocated
		var all [several][]byte
		for i := range all {
			all[i] = make([]byte, size)
		}
		for i := range n {
			copy(all[i%several], all[(i+several/2)%several])
		}
		return n * size
	}},
	{alloc, func(n int) int {
		for range n {
			sink = make([]int, 4)
		}
		return n
	}},
	{allocTiny, func(n int) int {
		for i := range n {
			boxed = i + 256 // smaller values are preallocated by Go
		}
		return n
	}},
	{regexpByte, func(n int) int {
		const pattern = `^[a-z]+-[0-9]+(\.[a-z]+)*$`
		for range n {
			boxed = regexp.MustCompile(pattern)
		}
		return n * len(pattern)
	}},
	{poolUse, func(n int) int {
		p := sync.Pool{New: func() any { return new(int) }}
		for range n {
			p.Put(p.Get())
		}
		return n
	}},
	{allocByte, growing(func() []int { return nil })},
	{alreadyGrown, growing(func() []int { return make([]int, 0, grownTo) })},
	{allocAgain, func(n int) int { // a larger one costs only allocAgain more
		const size = 4 << 10
		for range n {
			sink = make([]int, size/8)
		}
		return n * size
	}},
	{mapMove, func(n int) int { // the extra time to fill a map without a hint, for each entry moved
		const size = 1 << 13
		for range n {
			fill(map[int]int{}, size)
		}
		return n * size
	}},
	{mapPut, func(n int) int {
		const size = 1 << 13
		for range n {
			fill(make(map[int]int, size), size)
		}
		return n * size
	}},
	{mapGet, func(n int) int {
		const size = 1 << 16
		m := numbers(size)
		next := uint32(1) // unpredictable
		for range n {
			next = next*1664525 + 1013904223
			total += m[int(next>>16)]
		}
		return n
	}},
	{mapStep, func(n int) int {
		m := numbers(1 << 13)
		sum := 0
		for range n {
			for _, v := range m {
				sum += v
			}
		}
		total = sum
		return n << 13
	}},
	{sliceStep, func(n int) int {
		s := make([]int, 1<<13)
		sum := 0
		for range n {
			for _, v := range s {
				sum += v
			}
		}
		total = sum
		return n << 13
	}},
	{compare, func(n int) int {
		s := make([]int, 1<<10)
		for range n {
			total += slices.Index(s, 1)
		}
		return n << 10
	}},
	{ring, func(n int) int {
		ring := make([]int, 1<<10)
		for i := range n {
			ring[i&(len(ring)-1)] = i
			total += ring[(i+7)&(len(ring)-1)]
		}
		return n
	}},
	{swapWord, sortsInts(func(s []int) { sort.Slice(s, func(i, j int) bool { return s[i] < s[j] }) })},
	{sortedWords, sortsInts(func(s []int) { slices.SortFunc(s, func(a, b int) int { return a - b }) })},
	{swapOther, sortsOther(func(s []other) { sort.Slice(s, func(i, j int) bool { return s[i].key < s[j].key }) })},
	{sortedOthers, sortsOther(func(s []other) { slices.SortFunc(s, func(a, b other) int { return a.key - b.key }) })},
}

// alreadyGrown is no weight, but the base of one: the extra time of a slice that grows, per
// byte of the arrays that are outgrown and copied.
const alreadyGrown = "already grown"

// A slice of words that grows to grownTo outgrows arrays of grownBytes.
const (
	grownTo    = 1_000_000
	grownBytes = 33_232_088
)

func growing(begin func() []int) func(n int) int {
	return func(n int) int {
		for range n {
			s := begin()
			for i := range grownTo {
				s = append(s, i)
			}
			sink = s
		}
		return n * grownBytes
	}
}

// sortedWords and sortedOthers are no weights, but bases of some: the extra time of
// sort.Slice.
const (
	sortedWords  = "sorted words"
	sortedOthers = "sorted others"
)

// sorted is the number of elements sorted, and sortedLog its log₂.
const (
	sorted    = 1 << sortedLog
	sortedLog = 10
)

func sortsInts(sort func([]int)) func(n int) int {
	return func(n int) int {
		s := make([]int, sorted)
		for range n {
			for i := range s {
				s[i] = i * 7919 & (sorted - 1)
			}
			sort(s)
		}
		return n * sorted * sortedLog
	}
}

// other is an element larger than a word.
type other struct {
	key int
	_   [3]int
}

func sortsOther(sort func([]other)) func(n int) int {
	return func(n int) int {
		s := make([]other, sorted)
		for range n {
			for i := range s {
				s[i].key = i * 7919 & (sorted - 1)
			}
			sort(s)
		}
		return n * sorted * sortedLog
	}
}

// sink, boxed and total keep the compiler from eliminating the measured code.
var (
	sink  []int
	boxed any
	total int
)

func fill(m map[int]int, n int) {
	for i := range n {
		m[i] = i
	}
}

func numbers(n int) map[int]int {
	m := make(map[int]int, n)
	fill(m, n)
	return m
}
