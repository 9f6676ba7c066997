// A counter is almost only written, and guarded by a sync.RWMutex.
package main

import (
	"fmt"
	"sync"
)

const n = 20_000_000

type counter struct {
	mu    sync.RWMutex
	count int
}

func (c *counter) add(v int) {
	c.mu.Lock()
	c.count += v
	c.mu.Unlock()
}

func (c *counter) get() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.count
}

func main() {
	var c counter
	most := 0
	for i := range n {
		c.add(i & 3)
		if i%16 == 0 {
			most = max(most, c.get())
		}
	}
	fmt.Println(most, c.get())
}
