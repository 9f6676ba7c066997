package main

import (
	"container/list"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// lru is a cache with the least recently used entries evicted. Reading it changes its order,
// so readers need its lock too.
type lru struct {
	mu    sync.Mutex
	byKey map[int]*list.Element
	order *list.List
}

func (c *lru) get(key int) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if ok {
		c.order.MoveToFront(e)
		return e.Value.([2]uint64)[1]
	}
	if c.order.Len() >= 1000 {
		last := c.order.Back()
		delete(c.byKey, int(c.order.Remove(last).([2]uint64)[0]))
	}
	e = c.order.PushFront([2]uint64{uint64(key), uint64(key) * 0x9e3779b97f4a7c15})
	c.byKey[key] = e
	return e.Value.([2]uint64)[1]
}

// lruCache answers requests by twenty look-ups each. By strength, more of them are in one
// cache for all. Mended, there is a cache for each of 64 parts of the keys.
func lruCache(o options) func() uint64 {
	requests := o.many(120_000)
	text := page(2000)
	return func() uint64 {
		caches := make([]lru, 65)
		for i := range caches {
			caches[i] = lru{byKey: make(map[int]*list.Element), order: list.New()}
		}
		var next, sum atomic.Int64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < requests; n = int(next.Add(1)) - 1 {
				end := scope.Task("request", n)
				x := digest(uint64(n), text[:500+n*7%1500])
				for i := range 20 {
					key := (n*31 + i*i*17) % 1500
					cache := &caches[1+key%64]
					if i < o.part(20) {
						cache = &caches[0]
					}
					x += cache.get(key)
				}
				sum.Add(int64(x))
				end()
			}
		})
		return uint64(sum.Load())
	}
}

// store has the sessions of a server.
type store struct {
	sync.RWMutex
	seen map[int]int
}

// sessionStore notes for each request of which session it is, and looks through the store
// for old ones every now and then, by strength more often. Mended, the store has sixty-four
// parts, each with its lock, that are looked through one after the other.
func sessionStore(o options) func() uint64 {
	const sessions, parts = 16_000, 64
	requests := o.many(24_000)
	text := page(12_000)
	every := 4000
	if o.strength > 0 {
		every = int(40 / o.strength)
	}
	return func() uint64 {
		stores := make([]store, 1)
		if o.mended {
			stores = make([]store, parts)
		}
		for i := range stores {
			stores[i].seen = make(map[int]int)
		}
		for id := range sessions {
			stores[id%len(stores)].seen[id] = id
		}
		var next atomic.Int64
		var old, sum atomic.Uint64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < requests; n = int(next.Add(1)) - 1 {
				end := scope.Task("request", n)
				id := n * 7919 % sessions
				s := &stores[id%len(stores)]
				s.RLock()
				_, known := s.seen[id]
				s.RUnlock()
				if known {
					sum.Add(digest(uint64(id), text))
				}
				s.Lock()
				s.seen[id] = id
				s.Unlock()
				if n%every == 0 {
					for i := range stores {
						s := &stores[i]
						s.Lock()
						for id, at := range s.seen {
							if at != id {
								old.Add(1)
							}
						}
						s.Unlock()
					}
				}
				end()
			}
		})
		return sum.Load() + old.Load()
	}
}

// metricRegistry counts events by labels, in one registry for all. By strength, more of an
// event's eight counters are in it. Mended, each worker has one, and they are added up.
// The lock is one of package scope, without a name.
func metricRegistry(o options) func() uint64 {
	events := o.many(220_000)
	text := page(800)
	return func() uint64 {
		var mu scope.Mutex
		all := make(map[string]uint64)
		var next atomic.Int64
		together(o.workers, func(int) {
			own := make(map[string]uint64)
			for n := int(next.Add(1)) - 1; n < events; n = int(next.Add(1)) - 1 {
				status := digest(uint64(n), text) % 5
				for i := range 8 {
					if i < o.part(8) {
						mu.Lock()
						all[fmt.Sprint("http_requests_total", status, i)]++
						mu.Unlock()
					} else {
						own[fmt.Sprint("http_requests_total", status, i)]++
					}
				}
			}
			end := scope.Task("add up")
			mu.Lock()
			for name, n := range own {
				all[name] += n
			}
			mu.Unlock()
			end()
		})
		sum := uint64(0)
		for name, n := range all {
			sum += digest(n, name)
		}
		return sum
	}
}

// event is an entry of a log.
type event struct {
	Number  int
	Path    string
	Headers map[string]string
	Sizes   []int
}

// jsonLog writes a line for each request into a log. By strength, more of the lines are
// made while the log is locked. Mended, none is.
func jsonLog(o options) func() uint64 {
	requests := o.many(100_000)
	text := page(3000)
	return func() uint64 {
		var mu sync.Mutex
		var out []byte
		sum := uint64(0)
		write := func(line []byte) {
			if out = append(append(out, line...), '\n'); len(out) > 64<<10 {
				out = out[:0] // written
			}
			sum += digest(uint64(len(line)), string(line[:20]))
		}
		headers := map[string]string{"Accept": "text/html", "Host": "example.org", "User-Agent": "curl"}
		var next atomic.Int64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < requests; n = int(next.Add(1)) - 1 {
				end := scope.Task("request", n)
				e := event{n, "/index.html", headers, []int{n, n / 2, int(digest(0, text) & 1023)}}
				if o.inPart(n) {
					mu.Lock()
					line, _ := json.Marshal(e)
					write(line)
					mu.Unlock()
				} else {
					line, _ := json.Marshal(e)
					mu.Lock()
					write(line)
					mu.Unlock()
				}
				end()
			}
		})
		return sum
	}
}

// renderCache makes pages that are asked for, and keeps them. By strength, more of them
// are made under the cache's lock. Mended, all are made outside.
func renderCache(o options) func() uint64 {
	pages := o.many(1500)
	text := page(500_000)
	render := func(n int) uint64 {
		defer scope.Task("render", n)()
		return digest(uint64(n), text)
	}
	return func() uint64 {
		mu := scope.Mutex{Name: "pages"}
		made := make(map[int]uint64)
		var next atomic.Int64
		var sum atomic.Uint64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < pages; n = int(next.Add(1)) - 1 {
				end := scope.Task("get", n)
				mu.Lock()
				p, ok := made[n]
				if !ok && o.inPart(n) {
					p, ok = render(n), true
					made[n] = p
				}
				mu.Unlock()
				if !ok {
					p = render(n)
					mu.Lock()
					made[n] = p
					mu.Unlock()
				}
				sum.Add(digest(p, text[:150_000])) // sent
				end()
			}
		})
		return sum.Load()
	}
}

// bank moves money between accounts and checks both. By strength, more of that is done
// under the bank's lock. Mended, each account has a lock.
func bank(o options) func() uint64 {
	const accounts = 256
	transfers := o.many(20_000)
	text := page(40_000)
	return func() uint64 {
		var all sync.Mutex
		var each [accounts]sync.Mutex
		var balance [accounts]int64
		var next atomic.Int64
		var sum atomic.Uint64
		together(2*o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < transfers; n = int(next.Add(1)) - 1 {
				end := scope.Task("transfer", n)
				from, to := n*37%accounts, (n*37+1+n%100)%accounts
				inside := 30_000
				if !o.mended {
					inside = int(o.strength * float64(inside))
					all.Lock()
				} else {
					each[min(from, to)].Lock()
					each[max(from, to)].Lock()
				}
				balance[from] -= int64(n)
				balance[to] += int64(n)
				x := digest(0, text[:inside])
				if !o.mended {
					all.Unlock()
				} else {
					each[min(from, to)].Unlock()
					each[max(from, to)].Unlock()
				}
				sum.Add(digest(x, text[inside:]))
				end()
			}
		})
		for i, b := range balance {
			sum.Add(uint64(i+1) * uint64(b))
		}
		return sum.Load()
	}
}

// auditLog writes what was done, and waits until that is on the disk, which takes two
// milliseconds here. By strength, more of that is done under the log's lock. Mended, the
// lock is given back before.
func auditLog(o options) func() uint64 {
	requests := o.many(300)
	text := page(1_200_000)
	sync2ms := func() { time.Sleep(2 * time.Millisecond) }
	return func() uint64 {
		var mu sync.Mutex
		var lines []uint64
		var next atomic.Int64
		together(o.workers, func(int) {
			for n := int(next.Add(1)) - 1; n < requests; n = int(next.Add(1)) - 1 {
				end := scope.Task("request", n)
				x := digest(uint64(n), text)
				mu.Lock()
				lines = append(lines, x)
				if o.inPart(n) {
					sync2ms()
					mu.Unlock()
				} else {
					mu.Unlock()
					sync2ms()
				}
				end()
			}
		})
		sum := uint64(0)
		for _, x := range lines {
			sum += x
		}
		return sum
	}
}

// rpcClient asks a server, which takes its time to answer, by one connection that is
// locked until the answer is there; by strength more often. Mended, each worker has one.
func rpcClient(o options) func() uint64 {
	requests := o.many(250)
	text := page(800_000)
	serve := func(c net.Conn) {
		var b [8]byte
		for {
			if _, err := io.ReadFull(c, b[:]); err != nil {
				return
			}
			time.Sleep(2 * time.Millisecond)
			if _, err := c.Write(b[:]); err != nil {
				return
			}
		}
	}
	return func() uint64 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		defer listener.Close()
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				go serve(c)
			}
		}()
		dial := func() net.Conn {
			c, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				panic(err)
			}
			return c
		}
		ask := func(c net.Conn, n int) uint64 {
			b := [8]byte{byte(n), byte(n >> 8), 1}
			if _, err := c.Write(b[:]); err != nil {
				panic(err)
			}
			if _, err := io.ReadFull(c, b[:]); err != nil {
				panic(err)
			}
			return uint64(b[0]) + uint64(b[1])<<8
		}
		shared := dial()
		defer shared.Close()
		mu := scope.Mutex{Name: "client.mu"}
		var next atomic.Int64
		var sum atomic.Uint64
		together(o.workers, func(int) {
			own := dial()
			defer own.Close()
			for n := int(next.Add(1)) - 1; n < requests; n = int(next.Add(1)) - 1 {
				end := scope.Task("request", n)
				var x uint64
				if o.inPart(n) {
					mu.Lock()
					x = ask(shared, n)
					mu.Unlock()
				} else {
					x = ask(own, n)
				}
				sum.Add(digest(x, text))
				end()
			}
		})
		return sum.Load()
	}
}
