package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// quicksort sorts tables, and each half of a half as a goroutine of its own. By strength,
// down to smaller parts: 8 numbers at 1. Mended, down to 8192.
func quicksort(o options) func() uint64 {
	const size, largest = 1 << 16, 1 << 13
	tables := o.many(50)
	least := largest
	if !o.mended {
		least = int(math.Pow(2, 13-10*o.strength))
	}
	numbers := make([]uint64, size)
	r := dice(1)
	for i := range numbers {
		numbers[i] = r.Uint64() >> 8
	}
	var sorted func(a []uint64)
	sorted = func(a []uint64) {
		if len(a) <= least {
			slices.Sort(a)
			return
		}
		pivot := a[len(a)/2]
		i, j := 0, len(a)-1
		for i <= j {
			for a[i] < pivot {
				i++
			}
			for a[j] > pivot {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i, j = i+1, j-1
			}
		}
		var running sync.WaitGroup
		running.Add(2)
		go func() { defer running.Done(); sorted(a[:j+1]) }()
		go func() { defer running.Done(); sorted(a[i:]) }()
		running.Wait()
	}
	return func() (sum uint64) {
		var next atomic.Int64
		var all atomic.Uint64
		together(o.workers, func(int) {
			a := make([]uint64, size)
			for n := int(next.Add(1)) - 1; n < tables; n = int(next.Add(1)) - 1 {
				end := scope.Task("sort", n)
				copy(a, numbers)
				sorted(a)
				all.Add(a[n%size] + a[size-1])
				end()
			}
		})
		return all.Load()
	}
}

// rows filters pictures, with a goroutine for each row. By strength, the rows are shorter:
// of 32 pixels at 1. Mended, a goroutine does an eighth of the picture.
func rows(o options) func() uint64 {
	const pixels = 1 << 20
	pictures := o.many(20)
	picture := make([]uint32, pixels)
	for i := range picture {
		picture[i] = uint32(i * 2654435761)
	}
	row := pixels / 8
	if !o.mended {
		row = int(math.Pow(2, 17-12*o.strength))
	}
	return func() uint64 {
		total := uint64(0)
		for n := range pictures {
			end := scope.Task("picture", n)
			sums := make([]uint64, pixels/row+1)
			var running sync.WaitGroup
			for at := 0; at < pixels; at += row {
				running.Add(1)
				go func() {
					defer running.Done()
					x := uint64(0)
					for _, p := range picture[at:min(at+row, pixels)] {
						for range 20 {
							p = p*1664525 + uint32(n)
						}
						x += uint64(p)
					}
					sums[at/row] = x
				}()
			}
			running.Wait()
			for _, x := range sums {
				total += x
			}
			end()
		}
		return total
	}
}

// manyThreads computes the steps of a simulation, for each of which it makes goroutines
// that are waited for. By strength, GOMAXPROCS is higher, because that was once said to
// help: up to eight times as many as there are CPUs. Mended, it is left alone.
func manyThreads(o options) func() uint64 {
	steps := o.many(2500)
	text := page(40_000)
	if n := o.part(8 * runtime.NumCPU()); n > processors {
		runtime.GOMAXPROCS(n)
	}
	return func() (sum uint64) {
		for step := range steps {
			end := scope.Task("step", step)
			var all atomic.Uint64
			together(2*o.workers, func(worker int) { all.Add(digest(uint64(step+worker), text)) })
			sum += all.Load()
			end()
		}
		return sum
	}
}

// polite computes with eight times as many goroutines as workers, each of which lets
// others run every now and then. By strength, there are more. Mended, there are as many as
// processors. What they compute with is in the cache, so that it costs next to nothing.
func polite(o options) func() uint64 {
	jobs := o.many(1024)
	text := page(50_000)
	workers := processors
	if !o.mended {
		workers = max(processors, int(o.strength*float64(8*o.workers)))
	}
	return func() uint64 {
		var next atomic.Int64
		var sum atomic.Uint64
		together(workers, func(int) {
			for n := int(next.Add(1)) - 1; n < jobs; n = int(next.Add(1)) - 1 {
				end := scope.Task("job", n)
				x := uint64(n)
				for range 16 {
					x = digest(x, text)
					runtime.Gosched()
				}
				sum.Add(x)
				end()
			}
		})
		return sum.Load()
	}
}

// hitCounter serves files, and counts their bytes by kind for everybody to see. By
// strength, more of them one by one. Mended, those of a request at once. Requests come
// when they come, so that now several are answered at once and now one.
func hitCounter(o options) func() uint64 {
	requests := o.many(60)
	text := page(120_000)
	return func() uint64 {
		var kinds [64]atomic.Uint64
		together(o.workers, func(worker int) {
			r := dice(worker)
			for n := range requests {
				time.Sleep(time.Duration(r.ExpFloat64() * float64(4*time.Millisecond))) // until one comes
				end := scope.Task("serve", n)
				var own [64]uint64
				shared := o.part(len(text))
				for i := range shared {
					kinds[text[i]&63].Add(1)
				}
				for i := shared; i < len(text); i++ {
					own[text[i]&63]++
				}
				for i, n := range own {
					kinds[i].Add(n)
				}
				end()
			}
		})
		sum := uint64(0)
		for i := range kinds {
			sum += kinds[i].Load() * uint64(i+1)
		}
		return sum
	}
}

// normalize brings columns of numbers to the same scale, in eight steps. By strength, more
// of the steps go over a whole column. Mended, all go over a part that fits into the
// cache. Columns come when they come.
func normalize(o options) func() uint64 {
	const column, part, steps = 2 << 20, 8 << 10, 8
	columns := o.many(12)
	whole := o.part(steps)
	values := make([][]float64, o.workers)
	for i := range values {
		values[i] = make([]float64, column)
		for j := range values[i] {
			values[i][j] = float64(j % 1000)
		}
	}
	step := func(a []float64, k int) {
		for i := range a {
			a[i] = a[i]*0.5 + float64(k)
		}
	}
	return func() uint64 {
		together(o.workers, func(worker int) {
			r := dice(worker)
			for n := range columns {
				time.Sleep(time.Duration(r.ExpFloat64() * float64(10*time.Millisecond)))
				end := scope.Task("normalize", n)
				for k := range whole {
					step(values[worker], k)
				}
				for at := 0; at < column; at += part {
					for k := whole; k < steps; k++ {
						step(values[worker][at:at+part], k)
					}
				}
				end()
			}
		})
		sum := uint64(0)
		for _, v := range values {
			sum += math.Float64bits(v[column-1])
		}
		return sum
	}
}

// node is an element of what parse reads.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
}

// parse reads documents into trees, and a catalogue of two hundred thousand products is
// in memory meanwhile. By strength, more of them into a tree of their own. Mended, the
// numbers are taken from the text as it is read.
func parse(o options) func() uint64 {
	documents := o.many(10_000)
	products := make(map[string]*node)
	for i := range 200_000 {
		name := "product " + strconv.Itoa(i)
		products[name] = &node{name: name}
	}
	text := strings.Repeat("item id=17 price=99 stock=3\n", 100)
	tree := func() (sum uint64) {
		root := &node{name: "root"}
		for _, line := range strings.Split(text, "\n") {
			fields := strings.Fields(line)
			if len(fields) == 0 {
				continue
			}
			n := &node{name: fields[0], attrs: make(map[string]string)}
			for _, f := range fields[1:] {
				k, v, _ := strings.Cut(f, "=")
				n.attrs[k] = v
			}
			root.children = append(root.children, n)
		}
		for _, n := range root.children {
			for _, v := range n.attrs {
				x, _ := strconv.Atoi(v)
				sum += uint64(x)
			}
		}
		return sum
	}
	stream := func() (sum uint64) {
		for line := range strings.SplitSeq(text, "\n") {
			for f := range strings.FieldsSeq(line) {
				if _, v, ok := strings.Cut(f, "="); ok {
					x, _ := strconv.Atoi(v)
					sum += uint64(x)
				}
			}
		}
		return sum
	}
	return func() uint64 {
		var next atomic.Int64
		var sum atomic.Uint64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < documents; n = int(next.Add(1)) - 1 {
				end := scope.Task("parse", n)
				if o.inPart(n) {
					sum.Add(tree() * uint64(n+1))
				} else {
					sum.Add(stream() * uint64(n+1))
				}
				end()
			}
		})
		runtime.KeepAlive(products)
		return sum.Load()
	}
}

// concat puts answers together from pieces. By strength, more of them by making the whole
// text anew for each piece. Mended, in a buffer that is used again.
func concat(o options) func() uint64 {
	answers := o.many(6000)
	return func() uint64 {
		var next atomic.Int64
		var sum atomic.Uint64
		together(o.workers, func(int) {
			var buffer []byte
			for n := int(next.Add(1)) - 1; n < answers; n = int(next.Add(1)) - 1 {
				end := scope.Task("answer", n)
				if o.inPart(n) {
					text := ""
					for i := range 200 {
						text += "<li>" + strconv.Itoa(n+i) + "</li>"
					}
					sum.Add(digest(0, text))
				} else {
					buffer = buffer[:0]
					for i := range 200 {
						buffer = append(strconv.AppendInt(append(buffer, "<li>"...), int64(n+i), 10), "</li>"...)
					}
					sum.Add(digest(0, string(buffer)))
				}
				end()
			}
		})
		return sum.Load()
	}
}

// spinBarrier computes the steps of a simulation, in each of which the workers wait for
// each other. By strength, in more of the steps they look again and again whether all are there, and
// every now and then let others run. Mended, the last one wakes the others.
func spinBarrier(o options) func() uint64 {
	steps := o.many(100)
	text := page(1_600_000)
	return func() uint64 {
		var mu sync.Mutex
		cond := sync.NewCond(&mu)
		var arrived atomic.Int64
		wait := func(step int) {
			all := int64(o.workers * (step + 1))
			if o.inPart(step) {
				arrived.Add(1)
				for tries := 1; arrived.Load() < all; tries++ {
					if tries%1_000_000 == 0 {
						runtime.Gosched()
					}
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if arrived.Add(1) == all {
				cond.Broadcast()
			}
			for arrived.Load() < all {
				cond.Wait()
			}
		}
		var sum atomic.Uint64
		together(o.workers, func(worker int) {
			defer scope.Task("simulate", worker)()
			x := uint64(worker)
			for step := range steps {
				x = digest(x, text[:400_000+(step*7+worker*13)%10*120_000])
				wait(step)
			}
			sum.Add(x)
		})
		return sum.Load()
	}
}

// pollMailbox has half of the workers compute, and the others look into a mailbox again
// and again for what they computed; by strength, for longer before they wait. Mended, they
// wait.
func pollMailbox(o options) func() uint64 {
	letters := o.many(800)
	text := page(600_000)
	polls := o.part(5_000_000)
	return func() uint64 {
		var sum atomic.Uint64
		half := max(1, o.workers/2)
		mailboxes := make([]chan uint64, half)
		for i := range mailboxes {
			mailboxes[i] = make(chan uint64, 16)
		}
		together(2*half, func(worker int) {
			mailbox := mailboxes[worker%half]
			if worker < half {
				for n := worker; n < letters; n += half {
					end := scope.Task("compute", n)
					mailbox <- digest(uint64(n), text)
					end()
				}
				close(mailbox)
				return
			}
			left := polls
			for {
				select {
				case x, ok := <-mailbox:
					if !ok {
						return
					}
					sum.Add(x)
					left = polls
					continue
				default:
				}
				if left--; left < 0 {
					x, ok := <-mailbox
					if !ok {
						return
					}
					sum.Add(x)
					left = polls
				}
			}
		})
		return sum.Load()
	}
}

// freeMemory draws pictures and gives their memory back to the system after each; by
// strength, after more of them. Mended, it is left to Go to do so.
func freeMemory(o options) func() uint64 {
	pictures := o.many(150)
	return func() uint64 {
		var next atomic.Int64
		var sum atomic.Uint64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < pictures; n = int(next.Add(1)) - 1 {
				end := scope.Task("picture", n)
				sum.Add(draw(make([]byte, 4<<20), n) + uint64(n+1))
				if o.inPart(n) {
					debug.FreeOSMemory()
				}
				end()
			}
		})
		return sum.Load()
	}
}
