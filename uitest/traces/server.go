package traces

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// What the program server does: a server of net/http handles requests /item?id= of Connections
// connections, each on a goroutine of its own, in a scope Serve with the argument id. That of
// Blocked waits for the lock CacheLock, which the row Refresher has in a scope Refresh for
// RefreshTime: it is the slowest of all. That of Starving, Hungry, computes for HungryTime while the
// garbage is collected and more goroutines than processors compute.
const (
	Connections = 10_000
	Serve       = "GET /item"
	Blocked     = 4711
	CacheLock   = "cache.mu"
	Refresher   = "refresher"
	Refresh     = "refresh"
	RefreshTime = 400 * time.Millisecond
	Hungry      = 815
	HungryTime  = 60 * time.Millisecond
	Compute     = "compute" // in the request Hungry
	Rival       = "rival"   // the rows that compute meanwhile
)

// pipes are connections in memory, which a server accepts.
type pipes struct {
	conns chan net.Conn
	done  chan bool
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// server answers one request of every fourth of n connections, which all stay open, and then those of Blocked and Hungry.
func server(n int) {
	runtime.GOMAXPROCS(GrindProcs)
	var cache sync.Mutex
	began := make(chan bool)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(r.URL.Query().Get("id"))
		begin := time.Now()
		end := scope.Task(Serve, scope.KV("id", id))
		switch id {
		case Blocked:
			close(began)
			scope.Lock(&cache, CacheLock)()
		case Hungry:
			compete()
		}
		end()
		served(id, time.Since(begin))
		fmt.Fprintln(w, id)
	})
	in := &pipes{make(chan net.Conn), make(chan bool)}
	s := &http.Server{Handler: handler}
	closed := make(chan error)
	go func() { closed <- s.Serve(in) }()
	clients := make([]*client, n)
	var all sync.WaitGroup
	for k := range 50 {
		all.Go(func() {
			for i := k; i < n; i += 50 {
				clients[i] = connect(in)
				if i%4 == 0 { // the others are idle
					clients[i].get(i)
				}
			}
		})
	}
	all.Wait()
	refreshing := make(chan bool)
	var refreshed sync.WaitGroup
	refreshed.Add(1)
	scope.Go(Refresher, func() {
		defer refreshed.Done()
		defer scope.Task(Refresh)()
		defer scope.Lock(&cache, CacheLock)()
		close(refreshing)
		<-began
		time.Sleep(RefreshTime)
	})
	<-refreshing
	clients[Blocked%n].get(Blocked)
	refreshed.Wait()
	clients[Hungry%n].get(Hungry)
	for _, c := range clients {
		c.conn.Close()
	}
	if err := errors.Join(s.Shutdown(context.Background()), ignore(<-closed, http.ErrServerClosed)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// compete computes beside rivals, and has the garbage collected.
func compete() {
	defer scope.Task(Compute)()
	var rivals sync.WaitGroup
	for i := range 2 * GrindProcs {
		rivals.Add(1)
		scope.Go(fmt.Sprintf("%s %d", Rival, i+1), func() {
			defer rivals.Done()
			busy(HungryTime)
		})
	}
	busy(HungryTime / 2)
	runtime.GC()
	busy(HungryTime / 2)
	rivals.Wait()
}

// served notes how long the slowest request takes, and the slowest of the others.
func served(id int, d time.Duration) {
	took.Lock()
	defer took.Unlock()
	if id == Blocked {
		took.longest = d
	} else {
		took.other = max(took.other, d)
	}
}

// client is the other end of a connection.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func connect(to *pipes) *client {
	here, there := net.Pipe()
	to.conns <- there
	return &client{here, bufio.NewReaderSize(here, 512)}
}

// get sends a request and reads its answer.
func (c *client) get(id int) {
	fmt.Fprintf(c.conn, "GET /item?id=%d HTTP/1.1\r\nHost: x\r\n\r\n", id)
	answer, err := http.ReadResponse(c.in, nil)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "request", id, err)
	}
}

// ignore returns err unless it is what is expected.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
