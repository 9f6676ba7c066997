package states

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// waits are goroutines that each wait for a different kind of object until they are
// released.
type waits struct {
	ready sync.WaitGroup
	mu    sync.Mutex
	rw    sync.RWMutex
	wg    sync.WaitGroup
	condL sync.Mutex
	cond  *sync.Cond
	full  chan int
	empty chan int
	never chan int
	lis   net.Listener
}

func (w *waits) mutex()     { w.ready.Done(); w.mu.Lock(); w.mu.Unlock() }
func (w *waits) rwmutex()   { w.ready.Done(); w.rw.RLock(); w.rw.RUnlock() }
func (w *waits) waitgroup() { w.ready.Done(); w.wg.Wait() }
func (w *waits) send()      { w.ready.Done(); w.full <- 1 }
func (w *waits) receive()   { w.ready.Done(); <-w.empty }
func (w *waits) sleep()     { w.ready.Done(); time.Sleep(waitFor) }
func (w *waits) condition() { w.condL.Lock(); w.ready.Done(); w.cond.Wait(); w.condL.Unlock() }

func (w *waits) selects() {
	w.ready.Done()
	select {
	case <-w.empty:
	case <-w.never:
	}
}

func (w *waits) network() {
	w.ready.Done()
	if c, err := w.lis.Accept(); err == nil {
		c.Close()
	}
}

const waitFor = 60 * time.Millisecond

// TestWaits: the kinds of waits are distinguished. On a busy machine some goroutines
// may begin to wait long after they were ready to.
func TestWaits(t *testing.T) {
	for try := 1; ; try++ {
		wrong := waitsOnce(t)
		if len(wrong) == 0 {
			return
		}
		t.Log(strings.Join(wrong, "\n"))
		if try == 3 {
			t.Fatalf("%d recordings are wrong", try)
		}
	}
}

// waitsOnce records once, and returns what is wrong.
func waitsOnce(t *testing.T) (wrong []string) {
	const pkg = "github.com/scopeview/scopeview/internal/states."
	want := map[string]State{
		"(*waits).mutex": Lock, "(*waits).rwmutex": Lock, "(*waits).waitgroup": Join, "(*waits).condition": Cond, "(*waits).send": Channel,
		"(*waits).receive": Channel, "(*waits).selects": Select, "(*waits).network": Network, "(*waits).sleep": Sleep,
	}
	w := waits{full: make(chan int), empty: make(chan int), never: make(chan int)}
	w.cond = sync.NewCond(&w.condL)
	var err error
	if w.lis, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Skip(err)
	}
	defer w.lis.Close()
	tr := recorded(t, func() {
		var all sync.WaitGroup
		start := func(f func()) {
			all.Add(1)
			w.ready.Add(1)
			go func() { defer all.Done(); f() }()
		}
		w.wg.Add(1)
		w.mu.Lock()
		w.rw.Lock()
		for _, f := range []func(){w.mutex, w.rwmutex, w.waitgroup, w.condition, w.send, w.receive, w.selects, w.network, w.sleep} {
			start(f)
		}
		w.ready.Wait()
		time.Sleep(waitFor)
		w.mu.Unlock()
		w.rw.Unlock()
		w.wg.Done()
		w.condL.Lock()
		w.cond.Broadcast()
		w.condL.Unlock()
		<-w.full
		w.empty <- 1
		w.empty <- 1
		if c, err := net.Dial("tcp", w.lis.Addr().String()); err == nil {
			c.Close()
		}
		all.Wait()
	})
	type place struct {
		goid  uint64
		stack uint32
	}
	byID, places := map[uint64]*life{}, map[place]bool{}
	f, err := Read(tr, func(v *Interval) {
		if byID[v.Goid] == nil {
			byID[v.Goid] = &life{}
		}
		byID[v.Goid].times[v.State] += v.To - v.From
		places[place{v.Goid, v.Stack}] = true
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*life{}
	for p := range places {
		byID[p.goid].Goroutine = f.Goroutines[p.goid]
		for _, fr := range f.Stack(p.stack) {
			found[strings.TrimPrefix(fr.Func, pkg)] = byID[p.goid]
		}
	}
	for name, state := range want {
		l := found[name]
		if l == nil {
			wrong = append(wrong, name+" was not seen to wait")
			continue
		}
		l.log(t, name)
		if l.times[state] < int64(waitFor)/3 {
			wrong = append(wrong, fmt.Sprintf("%s was in state %v for %v, want about %v", name, state, time.Duration(l.times[state]), waitFor))
		}
		for s, d := range l.times {
			switch s := State(s); s {
			case state, CPU, Running, Preempted, TextFault, DataFault, Stalled, Runnable, Syscall, Blocked, GC:
			default:
				if d > int64(waitFor)/3 {
					wrong = append(wrong, fmt.Sprintf("%s was in state %v for %v", name, s, time.Duration(d)))
				}
			}
		}
	}
	if !f.Checks.Sum.OK {
		t.Error(f.Checks.Sum.Text)
	}
	return wrong
}

// TestAssist: a goroutine that allocates while the collector marks has to help it.
func TestAssist(t *testing.T) {
	tr := recorded(t, func() {
		var wg sync.WaitGroup
		live := make([][]*[64]int, 4)
		for i := range live {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
					live[i] = nil
					for range 20_000 {
						live[i] = append(live[i], new([64]int))
					}
				}
			}()
		}
		wg.Wait()
		runtime.KeepAlive(live)
	})
	var helped, worked int64
	f, err := Read(tr, func(v *Interval) {
		if v.State == GC && v.Thread != 0 {
			helped += v.To - v.From
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	worked = f.Runtime[GC]
	t.Logf("goroutines of the program were with the collector for %v, helping or running for %v; its own for %v", time.Duration(f.Totals[GC]), time.Duration(helped), time.Duration(worked))
	if helped == 0 || worked == 0 || f.Totals[GC] == 0 {
		t.Error("want some of each")
	}
}
