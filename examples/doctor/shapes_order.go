package main

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/scope"
)

// orderedWriter packs the blocks of a file and writes them in their order, for which a
// worker waits for its turn. By strength, more of a block is packed in its turn. Mended,
// it is packed before.
func orderedWriter(o options) func() uint64 {
	blocks := o.many(1000)
	text := page(800_000)
	return func() (sum uint64) {
		var mu sync.Mutex
		cond := sync.NewCond(&mu)
		turn := 0
		before := len(text) - o.part(len(text))
		var next atomic.Int64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < blocks; n = int(next.Add(1)) - 1 {
				end := scope.Task("block", n)
				x := digest(uint64(n), text[:before])
				mu.Lock()
				for turn != n {
					cond.Wait()
				}
				mu.Unlock()
				// It is our turn, so no other worker writes.
				sum += digest(x, text[before:])
				mu.Lock()
				turn++
				cond.Broadcast()
				mu.Unlock()
				end()
			}
		})
		return sum
	}
}

// semaphore converts pictures, one at a time because of a former shortage of memory. By
// strength, more of the work is limited so. Mended, as many may be converted as there are
// workers.
func semaphore(o options) func() uint64 {
	pictures := o.many(1200)
	text := page(700_000)
	return func() uint64 {
		room := 1
		if o.mended {
			room = o.workers
		}
		slots := make(chan struct{}, room)
		var next atomic.Int64
		var sum atomic.Uint64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < pictures; n = int(next.Add(1)) - 1 {
				end := scope.Task("picture", n)
				inside := int((0.4 + 0.55*o.strength) * float64(len(text)))
				slots <- struct{}{}
				x := digest(uint64(n), text[:inside])
				<-slots
				sum.Add(digest(x, text[inside:]))
				end()
			}
		})
		return sum.Load()
	}
}

// producer reads records in one goroutine and hands them to workers. By strength, reading
// is more of the work. Mended, the workers read what they work on.
func producer(o options) func() uint64 {
	records := o.many(1500)
	text := page(600_000)
	reading := int((0.3 + 0.5*o.strength) * float64(len(text)))
	read := func(n int) uint64 { return digest(uint64(n), text[:reading]) }
	return func() uint64 {
		type record struct {
			n   int
			sum uint64
		}
		todo := make(chan record, 64)
		go func() {
			defer close(todo)
			for n := range records {
				r := record{n: n}
				if !o.mended {
					r.sum = read(n)
				}
				todo <- r
			}
		}()
		var sum atomic.Uint64
		together(o.workers, func(int) {
			for r := range todo {
				end := scope.Task("record", r.n)
				if o.mended {
					r.sum = read(r.n)
				}
				sum.Add(digest(r.sum, text[reading:]))
				end()
			}
		})
		return sum.Load()
	}
}

// frames makes the frames of a film: the main goroutine reads one, workers do its tiles,
// and the main goroutine packs it. By strength, reading and packing are more of the work.
// Mended, each frame is made by one worker, and several at once.
func frames(o options) func() uint64 {
	const tiles = 16
	count := o.many(80)
	text := page(10_000_000)
	alone := int((0.1 + 0.5*o.strength) * float64(len(text)))
	read := func(n int) uint64 { return digest(uint64(n), text[:alone/2]) }
	pack := func(x uint64) uint64 { return digest(x, text[:alone-alone/2]) }
	tile := func(x uint64, i int) uint64 {
		return digest(x+uint64(i), text[:(len(text)-alone)/tiles])
	}
	return func() uint64 {
		var total atomic.Uint64
		if o.mended {
			var next atomic.Int64
			together(o.workers, func(int) {
				for n := int(next.Add(1)) - 1; n < count; n = int(next.Add(1)) - 1 {
					end := scope.Task("frame", n)
					x, sum := read(n), uint64(0)
					for i := range tiles {
						sum += tile(x, i)
					}
					total.Add(pack(sum))
					end()
				}
			})
			return total.Load()
		}
		for n := range count {
			end := scope.Task("frame", n)
			x := read(n)
			var sum atomic.Uint64
			var next atomic.Int64
			together(o.workers, func(int) {
				for i := int(next.Add(1)) - 1; i < tiles; i = int(next.Add(1)) - 1 {
					sum.Add(tile(x, i))
				}
			})
			total.Add(pack(sum.Load()))
			end()
		}
		return total.Load()
	}
}

// hotShard books orders by customer: a worker has some customers, so that no order
// overtakes another one. By strength, more of the orders are of one customer. Mended, each
// worker takes the next order, because those of a day may overtake each other.
func hotShard(o options) func() uint64 {
	orders := o.many(4000)
	text := page(250_000)
	return func() uint64 {
		var sum atomic.Uint64
		book := func(n int) {
			defer scope.Task("book", n)()
			sum.Add(digest(uint64(n), text))
		}
		hot := int(0.65 * o.strength * 1000)
		customer := func(n int) int {
			if n*7919%1000 < hot {
				return 0
			}
			return n
		}
		var next atomic.Int64
		together(o.workers, func(worker int) {
			if o.mended {
				for n := int(next.Add(1)) - 1; n < orders; n = int(next.Add(1)) - 1 {
					book(n)
				}
				return
			}
			for n := range orders {
				if customer(n)%o.workers == worker {
					book(n)
				}
			}
		})
		return sum.Load()
	}
}

// giantFile packs files, a goroutine each, no more at once than there are workers. By
// strength, the last one is larger. Mended, that one is packed in pieces.
func giantFile(o options) func() uint64 {
	const piece = 400_000
	files := o.many(1200)
	pieces := max(1, int(o.strength*float64(files)*0.6))
	text := page(piece)
	return func() uint64 {
		var sum atomic.Uint64
		var running sync.WaitGroup
		slots := make(chan struct{}, o.workers)
		start := func(f func()) {
			slots <- struct{}{}
			running.Add(1)
			go func() {
				defer func() { <-slots; running.Done() }()
				f()
			}()
		}
		pack := func(n int) { sum.Add(digest(uint64(n), text)) }
		for n := range files {
			start(func() {
				defer scope.Task("pack", n)()
				pack(n)
			})
		}
		if o.mended {
			for i := range pieces {
				start(func() {
					defer scope.Task("pack piece", i)()
					pack(files + i)
				})
			}
		} else {
			start(func() {
				defer scope.Task("pack", files)()
				for i := range pieces {
					pack(files + i)
				}
			})
		}
		running.Wait()
		return sum.Load()
	}
}

// lineByLine counts words: one goroutine cuts the text into lines and sends them, workers
// take them. By strength, fewer lines go at a time. Mended, 256 do.
func lineByLine(o options) func() uint64 {
	lines := o.many(700_000)
	text := page(500)
	batch := 256
	if !o.mended {
		batch = int(256 / (1 + 255*o.strength*o.strength*o.strength))
	}
	return func() uint64 {
		todo := make(chan []int)
		go func() {
			defer close(todo)
			for at := 0; at < lines; at += batch {
				ns := make([]int, 0, batch)
				for n := at; n < min(at+batch, lines); n++ {
					ns = append(ns, n)
				}
				todo <- ns
			}
		}()
		var sum atomic.Uint64
		together(o.workers, func(worker int) {
			defer scope.Task("count", worker)()
			x := uint64(0)
			for ns := range todo {
				for _, n := range ns {
					x += digest(uint64(n), text[:200+n%300])
				}
			}
			sum.Add(x)
		})
		return sum.Load()
	}
}

// flushingCollector gathers results of workers, and sorts and packs them for every 64. By
// strength, that takes longer, and nobody takes results meanwhile. Mended, the channel has
// room for 256.
func flushingCollector(o options) func() uint64 {
	const every = 64
	results := o.many(4096)
	text := page(4_000_000)
	packing := int(o.strength * float64(len(text)))
	room := 0
	if o.mended {
		room = 4 * every
	}
	return func() (sum uint64) {
		done := make(chan uint64, room)
		go func() {
			defer close(done)
			var next atomic.Int64
			together(o.workers, func(int) {
				for n := int(next.Add(1)) - 1; n < results; n = int(next.Add(1)) - 1 {
					end := scope.Task("work", n)
					x := digest(uint64(n), text[:120_000])
					end()
					done <- x
				}
			})
		}()
		waiting := 0
		for x := range done {
			sum += x
			if waiting++; waiting == every {
				end := scope.Task("flush")
				sum += digest(0, text[:packing])
				waiting = 0
				end()
			}
		}
		return sum
	}
}
