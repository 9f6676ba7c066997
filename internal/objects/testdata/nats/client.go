// Package nats has calls that can wait. A comment after each has the name of
// the object.
package nats

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"example.com/other"
	"github.com/scopeview/scopeview/scope"
)

type client struct {
	sync.Mutex
	mu    sync.Mutex
	rw    *scope.RWMutex
	sub   *subs
	ch    chan int
	errs  map[string]chan error
	group sync.WaitGroup
	cond  *sync.Cond
	once  sync.Once
	inner struct {
		mu sync.Mutex
	}
	stmts struct {
		sync.Mutex
		base
		n int
	}
	locks  [4]sync.Mutex
	locker sync.Locker
	done   other.Done
	shards []*shard
	values store[string, int]
}

type subs struct {
	base
	mu sync.Mutex
}

type base struct {
	sync.RWMutex
	deep sync.Mutex
}

type shard struct{ mu sync.Mutex }

type store[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]V
}

type strange struct {
	other.Base
	subs
}

type tokens chan struct{}

type wrapped struct{ mu sync.Mutex }

func (w *wrapped) Lock() { w.mu.Lock() } // = nats.wrapped.mu

func (t tokens) take() { <-t } // = nats.tokens

var (
	globalMu sync.Mutex
	global   client
	state    struct {
		mu sync.Mutex
		n  int
	}
)

func (c *client) flush(other2 *client) {
	c.mu.Lock()                                // = nats.client.mu
	other2.mu.Lock()                           // = nats.client.mu
	c.Lock()                                   // = nats.client.Mutex
	c.Mutex.Lock()                             // = nats.client.Mutex
	c.sub.mu.Lock()                            // = nats.subs.mu
	c.sub.RLock()                              // = nats.base.RWMutex
	c.sub.deep.Lock()                          // = nats.base.deep
	c.rw.RLock()                               // = nats.client.rw
	c.rw.RLocker().Lock()                      // = nats.client.rw
	c.inner.mu.Lock()                          // = nats.client.inner.mu
	c.stmts.Lock()                             // = nats.client.stmts.Mutex
	c.stmts.deep.Lock()                        // = nats.base.deep
	c.locks[2].Lock()                          // = nats.client.locks
	c.shards[0].mu.Lock()                      // = nats.shard.mu
	c.values.mu.Lock()                         // = nats.store.mu
	c.locker.Lock()                            // = nats.client.locker
	(&(*c).mu).Lock()                          // = nats.client.mu
	c.ch <- 1                                  // = nats.client.ch
	<-c.ch                                     // = nats.client.ch
	x, ok := <-c.ch                            // = nats.client.ch
	c.errs["a"] <- nil                         // = nats.client.errs
	c.group.Wait()                             // = nats.client.group
	c.cond.Wait()                              // = nats.client.cond
	c.once.Do(func() {})                       // = nats.client.once
	c.once.Do(c.mu.Lock)                       // = place
	globalMu.Lock()                            // = nats.globalMu
	global.mu.Lock()                           // = nats.client.mu
	global.Lock()                              // = nats.client.Mutex
	state.mu.Lock()                            // = nats.state.mu
	func() { c.mu.Lock(); c.sub.mu.Lock() }()  // = place
	func() { c.mu.Lock(); other2.mu.Lock() }() // = nats.client.mu
	c.done.Wait()                              // = place
	c.cond.L.Lock()                            // = place
	other.Mu.Lock()                            // = place
	c.mu.TryLock()                             // = nats.client.mu
	c.mu.Unlock()                              // = place
	_, _ = x, ok
}

func promoted(s *strange, w *wrapped) {
	s.deep.Lock() // = place
	s.mu.Lock()   // = nats.subs.mu
	w.Lock()      // = place
	s.Lock()      // = place
}

func first() *client    { return &global }
func lock() *sync.Mutex { return &globalMu }

func results() {
	first().mu.Lock() // = nats.client.mu
	first().Lock()    // = nats.client.Mutex
	lock().Lock()     // = place
	first().
		sub.
		mu.
		Lock() // = nats.subs.mu
}

func locals(l sync.Locker, m *sync.Mutex, in chan int) {
	var mu sync.Mutex
	mu.Lock() // = nats.locals.mu
	l.Lock()  // = place
	m.Lock()  // = place
	<-in      // = place
	var wg sync.WaitGroup
	results := make(chan int)
	wg.Go(func() {
		mu.Lock()    // = nats.locals.mu
		results <- 1 // = nats.locals.results
	})
	wg.Wait()           // = nats.locals.wg
	for range results { // = nats.locals.results
	}
	p := &global.mu
	p.Lock() // = nats.client.mu
	q := new(sync.Mutex)
	q.Lock() // = nats.locals.q
	q2 := &globalMu
	if l == nil {
		q2 = m
	}
	q2.Lock() // = place
	for _, s := range global.shards {
		s.mu.Lock() // = nats.shard.mu
	}
	for i := range global.locks {
		x := &global.locks[i]
		x.Lock() // = nats.client.locks
	}
	for _, e := range global.errs {
		<-e // = nats.client.errs
	}
	{
		var twice sync.Mutex
		twice.Lock() // = place
	}
	{
		var twice sync.Mutex
		twice.Lock() // = place
	}
	var once = sync.NewCond(&mu)
	once.Wait() // = nats.locals.once
}

func (c *client) loop(ctx context.Context) {
	for {
		select { // = select in nats.(*client).loop
		case <-c.ch:
		case <-ctx.Done():
			<-c.ch // = nats.client.ch
		}
	}
}

func (c *client) one(ctx context.Context) {
	select { // = nats.client.ch
	case v := <-c.ch: // = nats.client.ch
		_ = v
	}
	select { // = place
	case c.ch <- 1: // = place
	default:
	}
	<-ctx.Done()    // = place
	<-time.After(1) // = place
}

func (c *client) deferred(n int) int {
	defer c.group.Wait() // = place
	defer func() {
		c.mu.Lock() // = nats.client.mu
	}()
	if n > 0 {
		return 1 // = nats.client.group
	}
	return 2 // = nats.client.group
} // = nats.client.group

func (s *store[K, V]) get(k K) V {
	s.mu.Lock() // = nats.store.mu
	return s.m[k]
}

func kept(all *sync.Map, now *atomic.Pointer[client]) {
	all.Range(func(_, v any) bool {
		v.(*client).mu.Lock() // = nats.client.mu
		return true
	})
	if v, ok := all.Load(1); ok {
		v.(*shard).mu.Lock() // = nats.shard.mu
	}
	now.Load().mu.Lock() // = nats.client.mu
}

func (c *client) unknown() {
	for range c.done { // = place
	}
}

func init() {
	var mu sync.Mutex
	mu.Lock() // = place
}
