//go:build linux && amd64 && !scope_off && !scope_pure && !scope_go && !scope_norseq && !scope_noyield && !scope_nogoid && !race

package cputest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var sink atomic.Uint64

// times is n, or fewer in short mode.
func times(n int) int {
	if testing.Short() {
		return max(n/8, 1)
	}
	return n
}

// A waiter on one P while another goroutine computes: all that the other one
// does happens on the waiter's thread, within the waiter's scope.
func TestWaiterOnOneP(t *testing.T) {
	n := times(400)
	all := record(t, 1, func(r *run) {
		ask, answer := make(chan int), make(chan int)
		r.goWorker(func(w *worker) {
			for range n {
				w.scope(func() {
					w.burn(50 * time.Microsecond)
					ask <- 1
					<-answer
				})
				w.scope(func() { w.burn(10 * time.Microsecond) })
			}
			close(ask)
		})
		r.goWorker(func(w *worker) {
			for range ask {
				w.scope(func() { w.burn(300 * time.Microsecond) })
				answer <- 1
			}
		})
	})
	check(t, all, want{scopes: 3 * n, known: n, bounds: n / 2})
}

// Collections that preempt goroutines for scanning their stacks, by a way that
// does not count as a yield.
func TestGarbageCollector(t *testing.T) {
	n := times(1000)
	all := record(t, 2, func(r *run) {
		var stop atomic.Bool
		var workers sync.WaitGroup
		r.wg.Go(func() {
			for !stop.Load() {
				runtime.GC()
			}
		})
		for i := range 3 {
			workers.Add(1)
			r.goWorker(func(w *worker) {
				defer workers.Done()
				for k := range n {
					w.scope(func() {
						deep(20, func() {
							garbage(k % 50)
							w.burn(time.Duration(5+(k*7+i)%300) * time.Microsecond)
						})
					})
				}
			})
		}
		workers.Wait()
		stop.Store(true)
	})
	check(t, all, want{scopes: 3 * n, known: n})
}

// deep calls f below n frames: a stack that takes time to scan.
func deep(n int, f func()) int {
	var frame [256]byte
	if n == 0 {
		f()
		return 0
	}
	frame[n] = byte(n)
	return deep(n-1, f) + int(frame[n])
}

var kept [64]atomic.Pointer[[4096]byte]

func garbage(n int) {
	for i := range n {
		kept[i%len(kept)].Store(new([4096]byte))
	}
}

// Coroutines switch on one thread without the scheduler.
func TestPull(t *testing.T) {
	n := times(100)
	produce := func(r *run, inside bool) iter.Seq[int] {
		return func(yield func(int) bool) {
			w := r.worker()
			for i := 0; ; i++ {
				more := true
				step := func() {
					w.burn(100 * time.Microsecond)
					more = yield(i)
					more = more && yield(i)
				}
				if inside {
					w.scope(step)
				} else {
					step()
				}
				if !more {
					return
				}
			}
		}
	}
	cases := []struct {
		name            string
		outside, inside bool
	}{
		{"around next", true, false},
		{"inside the iterator", false, true},
		{"both", true, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			all := record(t, 2, func(r *run) {
				for range 2 {
					r.goWorker(func(w *worker) {
						next, stop := iter.Pull(produce(r, c.inside))
						defer stop()
						step := func() {
							next()
							w.burn(200 * time.Microsecond)
							next()
						}
						for range n {
							if c.outside {
								w.scope(step)
							} else {
								step()
							}
						}
					})
				}
			})
			check(t, all, want{scopes: 2 * n})
		})
	}
}

// A coroutine that waits returns on any thread, and moves the goroutine that pulls to
// that thread, too.
func TestPullFromAWaiter(t *testing.T) {
	n := times(300)
	all := record(t, 2, func(r *run) {
		tick, tock := make(chan int), make(chan int)
		r.wg.Go(func() {
			for range tick {
				spin(50 * time.Microsecond)
				tock <- 1
			}
		})
		r.goWorker(func(w *worker) {
			defer close(tick)
			next, stop := iter.Pull(func(yield func(int) bool) {
				for ok := true; ok; ok = yield(1) {
					tick <- 1
					<-tock
					runtime.Gosched()
				}
			})
			defer stop()
			for range n {
				w.scope(func() {
					for range 3 {
						w.burn(100 * time.Microsecond)
						next()
					}
				})
			}
		})
		r.goWorker(func(w *worker) {
			for range n {
				w.scope(func() { w.burn(200 * time.Microsecond) })
				runtime.Gosched()
			}
		})
	})
	check(t, all, want{scopes: 2 * n, known: n / 2})
}

// The yield witness is a byte. As often as it wraps, and only then, a scope that
// is longer than 20 µs may count as one that did not yield.
func TestRoundTrips(t *testing.T) {
	for _, trips := range []int{255, 256, 257, 512, 1024} {
		t.Run(fmt.Sprint(trips), func(t *testing.T) {
			n := times(40)
			all := record(t, 1, func(r *run) {
				ping, pong := make(chan int), make(chan int)
				r.goWorker(func(w *worker) {
					defer close(ping)
					for range n {
						w.scope(func() {
							for range trips {
								ping <- 1
								<-pong
							}
						})
						w.scope(func() {})
					}
				})
				r.wg.Go(func() {
					for range ping {
						spin(3 * time.Microsecond)
						pong <- 1
					}
				})
			})
			check(t, all, want{scopes: 2 * n, known: n / 2})
		})
	}
}

// Everything at once: channels, sleeps, locks, allocations, system calls,
// coroutines, and computing so long that it is preempted.
func TestMixedLoad(t *testing.T) {
	n := times(400)
	all := record(t, 4, func(r *run) {
		var mu sync.Mutex
		c := make(chan int, 1)
		for i := range 6 {
			r.goWorker(func(w *worker) {
				rnd := rand.New(rand.NewPCG(1, uint64(i)))
				for range n {
					w.scope(func() {
						for range 1 + rnd.IntN(4) {
							w.burn(time.Duration(5+rnd.IntN(100)) * time.Microsecond)
							mixed(w, rnd, &mu, c)
						}
					})
					if rnd.IntN(4) == 0 {
						w.scope(func() { w.burn(time.Duration(rnd.IntN(20)) * time.Microsecond) })
					}
				}
			})
		}
	})
	check(t, all, want{scopes: 6 * n, known: n, bounds: n / 4})
}

func mixed(w *worker, rnd *rand.Rand, mu *sync.Mutex, c chan int) {
	switch rnd.IntN(16) {
	case 0, 1:
		select {
		case c <- 1:
		case <-c:
		}
	case 2:
		time.Sleep(time.Duration(rnd.IntN(100)) * time.Microsecond)
	case 3, 4:
		mu.Lock()
		w.burn(time.Duration(rnd.IntN(50)) * time.Microsecond)
		mu.Unlock()
	case 5, 6:
		garbage(rnd.IntN(20))
	case 7:
		_, _ = os.Stat("/")
	case 8:
		runtime.Gosched()
	case 9:
		w.scope(func() { w.burn(time.Duration(rnd.IntN(100)) * time.Microsecond) })
	case 10:
		if rnd.IntN(40) == 0 {
			w.burn(12 * time.Millisecond)
		}
	case 11:
		next, stop := iter.Pull(func(yield func(int) bool) {
			spin(30 * time.Microsecond)
			yield(1)
		})
		next()
		stop()
	case 12:
		_ = unix.Nanosleep(&unix.Timespec{Nsec: int64(rnd.IntN(100_000))}, nil)
	}
}

// A goroutine that is locked to its thread leaves it idle when it waits.
func TestLockedToThreads(t *testing.T) {
	n := times(250)
	all := record(t, 2, func(r *run) {
		ask, answer := make(chan int), make(chan int)
		r.goWorker(func(w *worker) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer close(ask)
			for range n {
				w.scope(func() {
					w.burn(30 * time.Microsecond)
					ask <- 1
					<-answer
					w.burn(30 * time.Microsecond)
				})
				w.scope(func() { w.burn(100 * time.Microsecond) })
			}
		})
		r.goWorker(func(w *worker) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range ask {
				w.scope(func() { w.burn(200 * time.Microsecond) })
				answer <- 1
			}
		})
		r.goWorker(func(w *worker) {
			for range n {
				w.scope(func() { w.burn(300 * time.Microsecond) })
				runtime.Gosched()
			}
		})
	})
	check(t, all, want{scopes: 4 * n, known: n, bounds: n / 2})
}

// Threads that end with their goroutine, so that the structures that stood for
// them come to stand for others.
func TestShortLivedThreads(t *testing.T) {
	n := times(300)
	all := record(t, 2, func(r *run) {
		for range n {
			var both sync.WaitGroup
			for i := range 2 {
				both.Add(1)
				r.goWorker(func(w *worker) {
					defer both.Done()
					runtime.LockOSThread() // and never unlocked: the thread ends
					w.scope(func() { w.burn(50 * time.Microsecond) })
					w.scope(func() {
						w.burn(20 * time.Microsecond)
						_ = unix.Nanosleep(&unix.Timespec{Nsec: int64(i+1) * 50_000}, nil)
						w.burn(20 * time.Microsecond)
					})
				})
			}
			both.Wait()
			if n%16 == 0 {
				runtime.GC() // lets the structures be reused
			}
		}
	})
	check(t, all, want{scopes: 4 * n, known: 2 * n})
}

// Goroutines that go on on another thread while the first one sleeps, and later
// come back to that one: its time lacks what they did on the other.
func TestHopping(t *testing.T) {
	n := times(200)
	rounds := func(k int, w *worker, leave func()) func() {
		return func() {
			for range k {
				w.burn(60 * time.Microsecond)
				leave()
			}
			w.burn(60 * time.Microsecond)
		}
	}
	for _, k := range []int{1, 2, 5} {
		t.Run(fmt.Sprint("yielding ", k), func(t *testing.T) {
			all := record(t, 2, func(r *run) {
				for range 3 {
					r.goWorker(func(w *worker) {
						for range n {
							w.scope(rounds(k, w, runtime.Gosched))
						}
					})
				}
			})
			check(t, all, want{scopes: 3 * n})
		})
		t.Run(fmt.Sprint("sleeping ", k), func(t *testing.T) {
			all := record(t, 2, func(r *run) {
				for range 2 {
					r.goWorker(func(w *worker) {
						for range n {
							w.scope(rounds(k, w, func() { time.Sleep(20 * time.Microsecond) }))
						}
					})
				}
			})
			check(t, all, want{scopes: 2 * n})
		})
		// A goroutine that is locked to a thread is woken on that thread, and a goroutine
		// that it wakes continues on another one.
		t.Run(fmt.Sprint("asking ", k), func(t *testing.T) {
			all := record(t, 2, func(r *run) {
				ask, answer := make(chan int), make(chan int)
				r.wg.Go(func() {
					runtime.LockOSThread()
					for range ask {
						answer <- 1
					}
				})
				r.goWorker(func(w *worker) {
					defer close(ask)
					for range n {
						w.scope(rounds(k, w, func() {
							ask <- 1
							<-answer
						}))
					}
				})
			})
			check(t, all, want{scopes: n})
		})
	}
}

// A goroutine that computes longer than the scheduler lets it is preempted, and
// goes on wherever there is a P.
func TestPreemption(t *testing.T) {
	n := times(16)
	all := record(t, 2, func(r *run) {
		for _, d := range []int{3, 12, 25} {
			r.goWorker(func(w *worker) {
				for range n {
					w.scope(func() {
						for range 2 * d {
							w.burn(500 * time.Microsecond)
						}
					})
				}
			})
		}
	})
	check(t, all, want{scopes: 3 * n})
}

// A lock's hold ends before the lock is released and is recorded after it was,
// when whoever waited may already have taken the CPU.
func TestHold(t *testing.T) {
	n := times(500)
	for _, procs := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(procs, " Ps"), func(t *testing.T) {
			all := record(t, procs, func(r *run) {
				var mu sync.Mutex
				for range 4 {
					r.goWorker(func(w *worker) {
						for range n {
							w.hold(&mu, func() { w.burn(50 * time.Microsecond) })
							w.burn(20 * time.Microsecond)
						}
					})
				}
			})
			check(t, all, want{scopes: 4 * n, known: n})
		})
	}
}

// A system call in which the thread sleeps costs next to nothing.
func TestBlockingSystemCall(t *testing.T) {
	n := times(200)
	all := record(t, 2, func(r *run) {
		for i := range 2 {
			var p [2]int
			if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
			turn := make(chan int)
			r.goWorker(func(w *worker) {
				if i == 0 {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				defer close(turn)
				var b [1]byte
				for range n {
					w.scope(func() {
						w.burn(20 * time.Microsecond)
						turn <- 1
						_, _ = unix.Read(p[0], b[:])
					})
					_, _ = unix.Write(p[1], b[:])
					w.scope(func() { _, _ = unix.Read(p[0], b[:]) })
				}
			})
			r.wg.Go(func() {
				defer unix.Close(p[0])
				defer unix.Close(p[1])
				for range turn {
					spin(500 * time.Microsecond)
					_, _ = unix.Write(p[1], []byte{1})
				}
			})
		}
	})
	check(t, all, want{scopes: 4 * n, known: n})
}
