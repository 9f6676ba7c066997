package advice

import (
	"container/list"
	"fmt"
	"slices"
	"strings"
)

// measuredLists are the weights of searches, shifts, lists and long keys.
var measuredLists = []operation{
	{compareString, func(n int) int {
		s := make([]string, 1<<10)
		for i := range s {
			s[i] = fmt.Sprintf("name-%06d", i)
		}
		for range n {
			total += slices.Index(s, "name-xxxxxx")
		}
		return n << 10
	}},
	{probe, func(n int) int {
		s := make([]int, 1<<10)
		for i := range s {
			s[i] = i
		}
		next := uint32(1) // unpredictable
		for range n {
			next = next*1664525 + 1013904223
			at, _ := slices.BinarySearch(s, int(next>>22))
			total += at
		}
		return n * 10
	}},
	{shiftByte, func(n int) int {
		const size = 1 << 12
		s := make([]int, size, size+1)
		for range n {
			s = slices.Insert(s, 0, 1)[:size]
		}
		return n * size * 8
	}},
	{listStep, func(n int) int {
		l := list.New()
		for i := range 1 << 10 {
			l.PushBack(i)
		}
		for range n {
			for e := l.Front(); e != nil; e = e.Next() {
				total += e.Value.(int)
			}
		}
		return n << 10
	}},
	{mapBuild, func(n int) int {
		const size = 1 << 13
		for range n {
			fill(map[int]int{}, size)
		}
		return n * size
	}},
	{hashByte, func(n int) int {
		const size = 1 << 12
		key := strings.Repeat("k", size)
		m, like := map[string]int{key: 1}, strings.Clone(key)
		for i := range 16 { // more than the one group of a small map
			m[fmt.Sprint(i)] = i
		}
		for range n {
			total += m[like]
		}
		return n * size
	}},
}
