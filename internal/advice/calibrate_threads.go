package advice

import "sync"

// measuredThreads measure the weights of channels, locks and goroutines. Stores in a
// sync.Map are not measured: much of their cost is the collector's, on other processors.
var measuredThreads = []operation{
	{chanOp, func(n int) int {
		const room = 64
		numbers := make(chan int, room)
		for range n {
			for i := range room {
				numbers <- i
			}
			for range room {
				total += <-numbers
			}
		}
		return 2 * room * n
	}},
	{chanWait, func(n int) int {
		numbers := make(chan int)
		go func() {
			for i := range n {
				numbers <- i
			}
		}()
		for range n {
			total += <-numbers
		}
		return n
	}},
	{mutexLock, func(n int) int {
		var mu sync.Mutex
		for range n {
			mu.Lock()
			total++
			mu.Unlock()
		}
		return n
	}},
	{rwRead, func(n int) int {
		var mu sync.RWMutex
		for range n {
			mu.RLock()
			total++
			mu.RUnlock()
		}
		return n
	}},
	{rwWrite, func(n int) int {
		var mu sync.RWMutex
		for range n {
			mu.Lock()
			total++
			mu.Unlock()
		}
		return n
	}},
	{syncGet, func(n int) int {
		const size = 1 << 13
		var m sync.Map
		for i := range size {
			m.Store(i, i)
		}
		for i := range n {
			v, _ := m.Load(i * 7919 & (size - 1))
			total += v.(int)
		}
		return n
	}},
	{goStart, func(n int) int {
		const pieces = 100
		done := make([]int, pieces)
		for range n {
			var wg sync.WaitGroup
			for i := range done {
				wg.Go(func() { done[i]++ })
			}
			wg.Wait()
		}
		total += done[0]
		return pieces * n
	}},
}
