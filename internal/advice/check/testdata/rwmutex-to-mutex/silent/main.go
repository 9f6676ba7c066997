// A table is written now and then, and read by several goroutines at once, for as long as a search takes.
package main

import (
	"fmt"
	"sync"
)

const (
	readers = 4
	n       = 150_000
)

type table struct {
	mu    sync.RWMutex
	words [512]int
}

func (t *table) set(i, v int) {
	t.mu.Lock()
	t.words[i%len(t.words)] = v
	t.mu.Unlock()
}

func (t *table) sum() (sum int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, w := range &t.words {
		sum += w & 1
	}
	return sum
}

func main() {
	var t table
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for i := range n {
				if t.sum(); i%16 == 0 {
					t.set(i, 1)
				}
			}
		})
	}
	wg.Wait()
	fmt.Println(t.sum())
}
