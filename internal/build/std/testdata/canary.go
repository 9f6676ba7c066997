// Command canary causes the events of each hook. It records into the file that CANARY_TRACE
// names.
package main

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
	_ "github.com/scopeview/scopeview/scope/hooks"
)

func main() {
	switch os.Getenv("CANARY_END") {
	case "return":
		return
	case "exit":
		os.Exit(0)
	case "deadlock":
		<-make(chan bool)
	case "profiles":
		profiles()
		return
	}
	if err := scope.Start(os.Getenv("CANARY_TRACE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, f := range []func(){alone, collected, mutex, once, writer, reader, group, cond, send, receive, choose, goroutines, web, grown, mapped, listed, searched, sorted, stringed, pooled, written, passed, shared, small, walked, copied, guarded, emptied, regions, labels} {
		f()
	}
	scope.Stop()
}

// kept makes counted values escape.
var kept any

// grown makes a slice that outgrows its array.
func grown() {
	s := make([]int, 0, 100)
	for i := range 1000 {
		s = append(s, i)
	}
	kept = s
}

// mapped uses a map in all ways.
func mapped() {
	m := make(map[int]int, 10)
	for i := range 1000 {
		m[i] = i
	}
	for k := range m {
		if m[k] > 10 {
			delete(m, k)
		}
	}
	clear(m)
	kept = m
}

// listed uses a list in all ways.
func listed() {
	l := list.New()
	for i := range 100 {
		l.PushBack(i)
	}
	for e := l.Front(); e != nil; e = e.Next() {
		kept = e.Value
	}
	l.Remove(l.Front())
}

// searched searches a slice, and inserts into it.
func searched() {
	s := make([]int, 0, 2000)
	for i := range 1000 {
		s = slices.Insert(s, 0, i)
	}
	kept = slices.Contains(s, -1)
}

// sorted sorts with both packages.
func sorted() {
	s := make([]int, 1000)
	for i := range s {
		s[i] = i * 7919 % 1000
	}
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	slices.Sort(s)
	nan := map[float64]int{}
	for range 10 {
		nan[math.NaN()] = 1
	}
	kept = nan
}

// stringed concatenates strings, converts them, uses buffers and interfaces, and compiles
// the same regular expression twice.
func stringed() {
	text := ""
	for i := range 100 {
		text += "some more of it"
		kept = i + 1000
	}
	b := []byte(text)
	kept = string(b)
	var buffer bytes.Buffer
	for range 100 {
		buffer.WriteString(text)
	}
	for range 2 {
		kept = regexp.MustCompile("so*me")
	}
}

// pooled gets from an empty pool.
func pooled() {
	pool := sync.Pool{New: func() any { return new(int) }}
	for range 10 {
		kept = pool.Get()
	}
}

// written writes little at a time.
func written() {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	for range 100 {
		f.WriteString("x")
	}
}

// passed sends to a channel with a buffer.
func passed() {
	c := make(chan int, 10)
	for range 100 {
		c <- 1
		<-c
	}
}

// shared uses objects that goroutines share.
func shared() {
	var mu sync.RWMutex
	var m sync.Map
	for i := range 100 {
		mu.RLock()
		m.Store(i, i)
		mu.RUnlock()
		mu.Lock()
		m.Load(i)
		mu.Unlock()
	}
}

// small starts goroutines that do little.
func small() {
	var done sync.WaitGroup
	for range 100 {
		done.Add(1)
		go func() { done.Done() }()
	}
	done.Wait()
}

// walked follows pointers to scattered elements.
func walked() {
	type element struct {
		next *element
		more [100]int
	}
	all := make([]element, 1<<14)
	for i := range all {
		all[i*7919&(len(all)-1)].next = &all[(i+1)*7919&(len(all)-1)]
	}
	for deadline := time.Now().Add(200 * time.Millisecond); time.Now().Before(deadline); {
		e := &all[0]
		for range len(all) {
			e = e.next
		}
		kept = e
	}
}

// copied moves elements within a slice.
func copied() {
	s := make([]int, 1000)
	for range 100 {
		copy(s[1:], s)
	}
	kept = s
}

// often is the number of operations that guarded and emptied do at least: beside other programs this one
// may hardly run in a given time, and operations are counted in bursts.
const often = 1_000_000

// guardMutex and emptyMutex are variables, whose addresses no other mutex had before: a mutex is identified
// by its address.
var guardMutex, emptyMutex sync.Mutex

// guarded loads while a mutex is locked.
func guarded() {
	mu := &guardMutex
	all := make([]int, 10)
	for n, deadline := 0, time.Now().Add(100*time.Millisecond); n < often || time.Now().Before(deadline); n++ {
		sum := 0
		mu.Lock()
		for _, n := range all {
			sum += n
		}
		mu.Unlock()
		kept = sum
	}
	kept = all
}

// emptied deletes from a map while a mutex is locked.
func emptied() {
	mu := &emptyMutex
	all := map[int]int{0: 0}
	for n, deadline := 0, time.Now().Add(100*time.Millisecond); n < often || time.Now().Before(deadline); n++ {
		if mu.TryLock() {
			delete(all, 1)
			mu.Unlock()
		}
	}
	kept = all
}

// alone records a scope once it is the only goroutine, while those of the recorder run.
func alone() {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if runtime.NumGoroutine() == 1 {
			scope.Task("main.alone")()
			return
		}
	}
}

// profiles records a scope for each of Go's single profiles that it can start while the
// recording uses it.
func profiles() {
	if pprof.StartCPUProfile(io.Discard) == nil {
		scope.Task("main.profiled")()
		pprof.StopCPUProfile()
	}
	if trace.Start(io.Discard) == nil {
		scope.Task("main.traced")()
		trace.Stop()
	}
	if f := trace.NewFlightRecorder(trace.FlightRecorderConfig{}); f.Start() == nil {
		scope.Task("main.flown")()
		f.Stop()
	}
}

// collected records whether the goal of Go's collector is above its minimum of 4 MiB, with
// the default GOGC.
func collected() {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	n := goal[0].Value.Uint64()
	scope.Task("main.collected", scope.KV("more", n > 4<<20 && n < 5<<20))()
}

// parked waits until n goroutines are in functions named wait… with this reason in the
// runtime's stacks.
func parked(n int, reason string) {
	buf := make([]byte, 1<<20)
	for deadline := time.Now().Add(20 * time.Second); ; runtime.Gosched() {
		found := 0
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "["+reason) && strings.Contains(g, "\nmain.wait") {
				found++
			}
		}
		if found == n {
			time.Sleep(2 * time.Millisecond) // shorter waits are not recorded
			return
		}
		if time.Now().After(deadline) {
			fmt.Fprintln(os.Stderr, "no goroutine is in", reason)
			os.Exit(1)
		}
	}
}

// both runs f on n goroutines, and release when all are parked.
func both(n int, reason string, f, release func()) {
	var done sync.WaitGroup
	for range n {
		done.Add(1)
		go func() {
			defer done.Done()
			f()
		}()
	}
	parked(n, reason)
	release()
	done.Wait()
}

func mutex() {
	var mu sync.Mutex
	mu.Lock()
	both(2, "sync.Mutex.Lock", func() { waitMutex(&mu) }, func() { holdMutex(&mu) })
}

//go:noinline
func waitMutex(mu *sync.Mutex) {
	mu.Lock()
	time.Sleep(time.Millisecond)
	mu.Unlock()
}

//go:noinline
func holdMutex(mu *sync.Mutex) { mu.Unlock() }

func once() {
	var o sync.Once
	inside, finish := make(chan bool), make(chan bool)
	go holdOnce(&o, func() {
		close(inside)
		<-finish
	})
	<-inside
	both(1, "sync.Mutex.Lock", func() { waitOnce(&o) }, func() { close(finish) })
}

//go:noinline
func holdOnce(o *sync.Once, f func()) { o.Do(f) }

//go:noinline
func waitOnce(o *sync.Once) { o.Do(func() {}) }

func writer() {
	var rw sync.RWMutex
	rw.RLock()
	both(1, "sync.RWMutex.Lock", func() { waitWriter(&rw) }, func() { holdReader(&rw) })
}

//go:noinline
func waitWriter(rw *sync.RWMutex) {
	rw.Lock()
	rw.Unlock()
}

//go:noinline
func holdReader(rw *sync.RWMutex) { rw.RUnlock() }

func reader() {
	var rw sync.RWMutex
	rw.Lock()
	both(1, "sync.RWMutex.RLock", func() { waitReader(&rw) }, func() { holdWriter(&rw) })
}

//go:noinline
func waitReader(rw *sync.RWMutex) {
	rw.RLock()
	rw.RUnlock()
}

//go:noinline
func holdWriter(rw *sync.RWMutex) { rw.Unlock() }

func group() {
	var wg sync.WaitGroup
	wg.Add(1)
	both(1, "sync.WaitGroup.Wait", func() { waitGroup(&wg) }, wg.Done)
}

//go:noinline
func waitGroup(wg *sync.WaitGroup) { wg.Wait() }

func cond() {
	c := sync.NewCond(&sync.Mutex{})
	both(1, "sync.Cond.Wait", func() { waitCond(c) }, func() {
		c.L.Lock()
		c.Broadcast()
		c.L.Unlock()
	})
}

//go:noinline
func waitCond(c *sync.Cond) {
	c.L.Lock()
	c.Wait()
	c.L.Unlock()
}

func send() {
	c := make(chan int)
	both(1, "chan send", func() { waitSend(c) }, func() { <-c })
}

//go:noinline
func waitSend(c chan int) { c <- 1 }

func receive() {
	c := make(chan int)
	both(1, "chan receive", func() { waitReceive(c) }, func() { close(c) })
}

//go:noinline
func waitReceive(c chan int) int { return <-c }

func choose() {
	a, b := make(chan int), make(chan int)
	both(1, "select", func() { waitSelect(a, b) }, func() { close(a) })
}

//go:noinline
func waitSelect(a, b chan int) {
	select {
	case <-a:
	case b <- 1:
	}
}

type server struct{ done chan bool }

//go:noinline
func (s *server) serve(n int) { s.done <- n > 0 }

func goroutines() {
	s := server{make(chan bool)}
	go s.serve(1)
	<-s.done
	go func() { s.done <- true }()
	<-s.done
}

func web() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer l.Close()
	here := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /carried", func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Get("Traceparent")) == 55 {
			w.WriteHeader(299)
		}
	})
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		q, _ := http.NewRequestWithContext(r.Context(), "GET", "http://carried.example/carried", nil)
		if r, err := here.Do(q); err == nil && len(q.Header) == 0 && r.Request == q {
			r.Body.Close()
		}
		w.(http.Flusher).Flush()
		io.WriteString(w, "hello")
	})
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	go http.Serve(l, mux)
	if r, err := here.Get("http://carried.example/panic"); err == nil {
		r.Body.Close()
	}
	q, _ := http.NewRequest("GET", "http://"+l.Addr().String()+"/users/7", nil)
	q.Header.Set("X-Request-Id", "request seven")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

// regions uses all annotations of package runtime/trace, without an execution trace.
func regions() {
	ctx, job := trace.NewTask(context.Background(), "main.job")
	trace.WithRegion(ctx, "main.region", func() { trace.Log(ctx, "main.logs", "one") })
	_, part := trace.NewTask(ctx, "main.part")
	ended := make(chan bool)
	go func() {
		part.End()
		part.End()
		close(ended)
	}()
	<-ended
	trace.StartRegion(context.Background(), "main.outside").End()
	trace.Logf(context.Background(), "", "%d", 2)
	job.End()
}

// labels sets profiler labels.
func labels() {
	pprof.Do(context.Background(), pprof.Labels("b", "2", "a", "1"), func(context.Context) {})
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("a", "3")))
	pprof.SetGoroutineLabels(context.Background())
}
