// Command record made the traces of this directory, each with something of
// every kind. They are kept unchanged, whatever becomes of this program:
// they stand for the traces that users have. For the next version of the
// format it makes those of a directory v2, with a build and a call for each:
//
//	go build -trimpath -o record ./internal/trace/testdata/v1/record
//	./record closed.scope
//	./record -kill killed.scope
//	./record -heap heap.scope
//	go build -trimpath -tags scope_go -o record …    ./record go.scope
//	go build -trimpath -tags scope_pure -o record …  ./record pure.scope
//	gzip -9n *.scope
//
// The traces of v1.1 are the first with a ring: closed.scope and killed.scope, made with -ring.
// Those of v1.2 have a Go execution trace, switches of threads and sums of locks: closed.scope,
// made with -sched, and killed.scope, made with -sched -disk -kill. That of v1.4 has samples:
// killed.scope, made with -samples -disk -kill. That of v1.5 has files: killed.scope, made with
// -files -disk -kill. That of v1.6 has waits for pages among the switches of threads: killed.scope,
// made with -sched -disk -kill.
//
// go test ./internal/trace -run TestG21 -update writes the reader's output for them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

func main() {
	heap := flag.Bool("heap", false, "record into the heap")
	disk := flag.Bool("disk", false, "record into the file itself")
	kill := flag.Bool("kill", false, "be killed in the middle of it")
	ring := flag.Bool("ring", false, "record into a ring")
	sched := flag.Bool("sched", false, "record the scheduler and locks")
	samples := flag.Bool("samples", false, "record samples")
	files := flag.Bool("files", false, "store files")
	flag.Parse()
	options := []scope.Option{scope.WithHeartbeat(10 * time.Millisecond), scope.WithFlushEvery(10 * time.Millisecond), scope.WithLimit(1 << 20)}
	if *heap {
		options = append(options, scope.WithBacking(scope.HeapBacking))
	}
	if *disk {
		options = append(options, scope.WithBacking(scope.DiskBacking))
	}
	if *ring {
		options = append(options[:2], scope.WithRing(scope.MinRing))
	}
	if *sched {
		options = append(options, func(o *record.Options) { o.AddCollector(&scheduler{}) }, scope.WithLockThreshold(scope.LocksAll), scope.WithLimit(8<<20))
	}
	if *samples {
		options = append(options, func(o *record.Options) { o.AddCollector(&sampler{}) }, scope.WithLimit(8<<20))
	}
	if *files {
		options = append(options, func(o *record.Options) { o.AddCollector(&keeper{}) })
	}
	if err := scope.Start(flag.Arg(0), options...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scope.Track("main")
	arguments()
	workers()
	if *sched {
		locks()
	}
	ends()
	_ = scope.Task("left open")
	_ = scope.Pending("never happens", scope.KV("why", "nobody calls it"))
	if *kill {
		time.Sleep(50 * time.Millisecond) // some rounds of the flusher
		_ = scope.Task("last of all", 1)
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	}
	time.Sleep(50 * time.Millisecond)
	if err := scope.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

type level int

// arguments records values of every type.
func arguments() {
	long := make([]byte, 2000)
	for i := range long {
		long[i] = 'a' + byte(i%26)
	}
	scope.Event("integers", 1, -2, int8(-3), uint64(1)<<63, uintptr(5), level(6))
	scope.Event("others", 1.5, float32(-0.25), true, false, time.Second, "text", "ümläut", "", nil, errors.New("an error"), []int{1})
	scope.Event("named", scope.KV("bytes", 4096), scope.KV("file", "a.go"), 7, scope.KV("", ""))
	scope.Event("long", string(long))
	scope.Event("many", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	scope.Event("bytes", "\xff\x00\n")
	scope.Event("")
	scope.Counter("ints", -5)
	scope.Counter("uints", uint8(200))
	scope.Counter("floats", 0.1)
	scope.Taskf("part %d of %s, %v", 3, "x", time.Millisecond)()
	defer scope.Process("arguments", 1)()
	s := scope.Begin("span", 1, scope.KV("at", "begin"))
	s.End("two", scope.KV("at", "end"))
}

// workers compete for a lock.
func workers() {
	defer scope.Task("workers")()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		scope.Go("worker", func() {
			defer wg.Done()
			for n := range 3 {
				work(&mu, i, n)
			}
		})
	}
	wg.Wait()
}

func work(mu *sync.Mutex, i, n int) {
	defer scope.Task("work", i, n)()
	defer scope.Lock(mu, "mu")()
	scope.Stack("work", int64(n+1))
	scope.Task("inner")()
	time.Sleep(200 * time.Microsecond)
	spin(20 * time.Microsecond)
}

func spin(d time.Duration) {
	for t0 := time.Now(); time.Since(t0) < d; {
	}
}

// ends ends scopes out of order, twice, on other goroutines and much later.
func ends() {
	a, b := scope.Task("a"), scope.Task("b")
	a()
	b()
	b()
	later := scope.Pending("happens", 5)
	p, s := scope.Process("ended elsewhere", 1), scope.Begin("ended elsewhere", 2)
	done := make(chan bool)
	go func() {
		p()
		s.End("there")
		later()
		close(done)
	}()
	<-done
	slow := scope.Task("slow")
	time.Sleep(40 * time.Millisecond) // its chunk is written meanwhile
	runtime.GC()
	slow()
}
