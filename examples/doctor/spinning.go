package main

import (
	"time"

	"github.com/scopeview/scopeview/scope"
)

// collector adds up the results of a worker.
type collector struct {
	packed   chan uint64
	patience time.Duration // time of polling before it waits
	total    uint64
}

func (c *collector) collect() {
	begin := time.Now()
	for {
		poll := scope.Retry("poll packed")
		for len(c.packed) == 0 && time.Since(begin) < c.patience {
			poll.Again()
		}
		poll.Done()
		sum, ok := <-c.packed
		if !ok {
			return
		}
		c.total += sum
		if time.Since(begin) >= c.patience {
			begin = time.Now()
		}
	}
}

// spinning packs documents with two workers, and a collector for each takes what it has
// packed. A collector looks whether there is something again and again, because that
// seems to be faster than to sleep, and by strength it does so for longer before it
// waits for it: up to 20 ms. Mended it waits at once.
//
// With processors to spare it would cost nothing but power; with as many processors as
// workers it takes the time of workers.
func spinning(o options) func() uint64 {
	documents := o.many(500)
	text := page(1_000_000)
	patience := time.Duration(o.strength * float64(o.part(int(20*time.Millisecond))))
	return func() uint64 {
		var of [processors]collector
		for i := range of {
			of[i] = collector{packed: make(chan uint64, documents), patience: patience}
		}
		inParallel(2*processors, func(worker int) {
			if worker >= processors {
				of[worker-processors].collect()
				return
			}
			packed := of[worker].packed
			for n := range documents {
				end := scope.Task("pack", n)
				packed <- digest(uint64(worker*documents+n), text)
				end()
			}
			close(packed)
		})
		return of[0].total + of[1].total
	}
}
