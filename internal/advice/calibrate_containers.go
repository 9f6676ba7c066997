package advice

import (
	linked "container/list"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"sync"
)

// operation is how a weight is measured: f does it n times, and returns how many of the weight's units
// those were.
type operation struct {
	weight string
	f      func(n int) (units int)
}

// measured are the operations on memory, containers and strings.
var measured = []operation{
	{CopyByte, func(n int) int {
		const size = 1 << 16 // as most arrays that grow, within the second cache
		a, b := make([]byte, size), make([]byte, size)
		for range n {
			copy(a, b)
		}
		return n * size
	}},
	{Alloc, func(n int) int {
		for range n {
			sink = make([]int, 4)
		}
		return n
	}},
	{AllocTiny, func(n int) int {
		for i := range n {
			boxed = i + 256 // below, Go has them already
		}
		return n
	}},
	{RegexpByte, func(n int) int {
		const pattern = `^[a-z]+-[0-9]+(\.[a-z]+)*$`
		for range n {
			boxed = regexp.MustCompile(pattern)
		}
		return n * len(pattern)
	}},
	{PoolUse, func(n int) int {
		p := sync.Pool{New: func() any { return new(int) }}
		for range n {
			p.Put(p.Get())
		}
		return n
	}},
	{AllocByte, func(n int) int { // from the system, and back to it
		const size, kept = 1 << 20, 64
		for range n {
			var all [kept][]int
			for i := range all {
				all[i] = make([]int, size/8)
			}
			runtime.KeepAlive(&all)
			debug.FreeOSMemory()
		}
		return n * kept * size
	}},
	{AllocAgain, func(n int) int {
		const size = 1 << 20
		for range n {
			sink = make([]int, size/8)
		}
		return n * size
	}},
	{MapMove, func(n int) int { // what it takes longer to fill a map without a hint, for each that moves
		const size = 1 << 13
		for range n {
			fill(map[int]int{}, size)
		}
		return n * size
	}},
	{MapPut, func(n int) int {
		const size = 1 << 13
		for range n {
			fill(make(map[int]int, size), size)
		}
		return n * size
	}},
	{MapGet, func(n int) int {
		m := numbers(1 << 13)
		sum := 0
		for i := range n {
			sum += m[i*7919&(1<<13-1)]
		}
		total = sum
		return n
	}},
	{MapStep, func(n int) int {
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
	{SliceStep, func(n int) int {
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
	{Compare, func(n int) int {
		s := make([]int, 1<<10)
		for range n {
			total += slices.Index(s, 1)
		}
		return n << 10
	}},
	{Append, func(n int) int {
		const size = 1 << 10
		for range n {
			var s []int
			for i := range size {
				s = append(s, i)
			}
			sink = s
		}
		return n * size
	}},
	{Ring, func(n int) int {
		ring := make([]int, 1<<10)
		for i := range n {
			ring[i&(len(ring)-1)] = i
			total += ring[(i+7)&(len(ring)-1)]
		}
		return n
	}},
	{ListStepFar, func(n int) int { return walk(1<<18, n) }},
	{SwapWord, sortsInts(func(s []int) { sort.Slice(s, func(i, j int) bool { return s[i] < s[j] }) })},
	{sortedWords, sortsInts(func(s []int) { slices.SortFunc(s, func(a, b int) int { return a - b }) })},
	{SwapOther, sortsOther(func(s []other) { sort.Slice(s, func(i, j int) bool { return s[i].key < s[j].key }) })},
	{sortedOthers, sortsOther(func(s []other) { slices.SortFunc(s, func(a, b other) int { return a.key - b.key }) })},
}

// sortedWords and sortedOthers are no weights: what sort.Slice takes more than they is one.
const (
	sortedWords  = "sorted words"
	sortedOthers = "sorted others"
)

// sorted is how many elements are sorted, and sortedLog the log₂ of that.
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

// other is an element that is no word.
type other struct {
	key  int
	more [3]int
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

// walk goes along a list, whose elements lie here and there if it is long.
func walk(size, n int) int {
	l := linked.New()
	elements := make([]*linked.Element, size)
	for i := range elements {
		elements[i] = l.PushBack(i)
	}
	for i := range elements {
		l.MoveToBack(elements[i*7919&(size-1)])
	}
	steps := 0
	for steps < n {
		for e := l.Front(); e != nil; e = e.Next() {
			total += e.Value.(int)
			steps++
		}
	}
	return steps
}

// sink, boxed and total keep the compiler from leaving out what is measured.
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
