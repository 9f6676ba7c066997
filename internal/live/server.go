package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/doctor"
)

// Options configure a Server.
type Options struct {
	Path       string             // a trace, or a directory with traces
	With       string             // a trace to compare it with; "": none
	Of         analysis.Selection // the part of each trace that is shown: Processes and Objects
	AllowHosts []string           // names and addresses, besides the loopback's, that a Host header may have
	Version    string             // version of the tool, for the page
	Weights    advice.Weights     // for advice; nil: the built-in ones
	Bandwidth  *doctor.Bandwidth  // of the machine's memory, for the doctor; nil: not measured
}

// Server shows traces to browsers.
type Server struct {
	o        Options
	shelf    *shelf
	with     *book // trace to compare with; nil: none
	guard    *guard
	heavy    chan struct{} // places for requests with large answers
	read     chan struct{} // places for requests that read a trace completely: tiles must not wait for them
	tiles    sync.RWMutex  // held for reading while a tile is made; see afterTiles
	asked    chan struct{} // places for SQL questions, which may take a minute
	examined chan struct{} // places for requests of the doctor, which take long: others must not wait for them

	timelines timelines // of several traces

	ctx  context.Context // of everything that runs
	stop context.CancelFunc
	mu   sync.Mutex
	busy int  // number of requests in progress
	over bool // no more requests are accepted
	wait sync.WaitGroup

	questionIn time.Duration // time after which a question is given up

	most amounts
	idle time.Duration // time after which an unused trace is dropped
}

// Limits of a server. They are far above what people need, and keep a page with an endless
// loop from using up the machine.
const (
	requestsMax = 256
	heavyMax    = 2
	idleFor     = 10 * time.Minute
	answerIn    = 30 * time.Second
	largeIn     = 10 * time.Minute // through a slow tunnel
	grace       = time.Second      // for requests in progress when the server ends
)

// New opens the trace or the directory.
func New(o Options) (*Server, error) {
	h, err := newHosts(o.AllowHosts)
	if err != nil {
		return nil, err
	}
	sh, err := newShelf(o.Path, o.Of)
	if err != nil {
		return nil, err
	}
	if sh.root == nil {
		if err := sh.book(0).check(); err != nil {
			return nil, err
		}
	}
	var with *book
	if o.With != "" {
		other, err := newShelf(o.With, o.Of)
		if err == nil && other.root != nil {
			other.close()
			err = fmt.Errorf("%s is a directory; name one trace to compare with", o.With)
		}
		if err == nil {
			with = other.book(0)
			err = with.check()
		}
		if err != nil {
			sh.close()
			return nil, err
		}
		sh.lend(with)
	}
	s := &Server{o: o, shelf: sh, with: with, heavy: make(chan struct{}, heavyMax), read: make(chan struct{}, heavyMax), asked: make(chan struct{}, 1), examined: make(chan struct{}, 1), questionIn: questionIn, most: usual, idle: idleFor}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.guard = newGuard(h, s.mux())
	return s, nil
}

// Address returns the address, with the token, of the trace's page or of the list of traces, if
// the server listens at addr. If addr is unspecified, the host is an allowed name or the loopback.
func (s *Server) Address(addr net.Addr) string { return s.address(addr, "/") }

// FirstPage returns the address of what a browser opens first: of a directory the newest trace,
// whose page links to the list. It is otherwise like Address.
func (s *Server) FirstPage(addr net.Addr) string {
	if s.shelf.root == nil {
		return s.address(addr, "/")
	}
	return s.address(addr, newestPath)
}

func (s *Server) address(addr net.Addr, path string) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "http://" + addr.String() + path + "?token=" + s.guard.token
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
		if len(s.o.AllowHosts) > 0 {
			host = strings.Trim(s.o.AllowHosts[0], "[]")
		}
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: path, RawQuery: "token=" + s.guard.token}
	return u.String()
}

// Entered returns a channel that is closed after the first request with the token.
func (s *Server) Entered() <-chan struct{} { return s.guard.entered }

func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	if s.shelf.root != nil {
		mux.HandleFunc("GET /{$}", s.serveList)
		mux.HandleFunc("GET "+newestPath, s.serveNewest)
		mux.HandleFunc("GET /list.json", s.serveTraces)
		mux.HandleFunc("GET /joined", s.serveJoined)
	} else {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { s.servePage(w, r, s.shelf.book(0)) })
	}
	mux.HandleFunc("GET /t/{n}/{$}", s.ofTrace(s.servePage))
	mux.HandleFunc("GET /t/{n}/api/whole", s.ofTrace(s.large(s.serveWhole)))
	mux.HandleFunc("GET /t/{n}/api/tile", s.ofTrace(s.large(s.serveTile)))
	mux.HandleFunc("GET /t/{n}/api/summary", s.ofTrace(inPlace(s.read, s.serveSummary)))
	mux.HandleFunc("GET /t/{n}/api/runs", s.ofTrace(inPlace(s.read, s.serveRuns)))
	mux.HandleFunc("GET /t/{n}/api/request", s.ofTrace(inPlace(s.read, s.serveRequest)))
	mux.HandleFunc("GET /t/{n}/api/waits", s.ofTrace(s.large(s.serveWaits)))
	mux.HandleFunc("GET /t/{n}/api/doctor", s.ofTrace(inPlace(s.examined, s.serveDoctor)))
	mux.HandleFunc("GET /t/{n}/api/advice", s.ofTrace(s.large(s.serveAdvice)))
	mux.HandleFunc("GET /t/{n}/api/samples", s.ofTrace(s.large(s.serveSamples)))
	mux.HandleFunc("GET /t/{n}/api/excerpt", s.ofTrace(s.large(s.serveExcerpt)))
	mux.HandleFunc("GET /t/{n}/api/sql", s.ofTrace(inPlace(s.asked, s.serveSQL)))
	mux.HandleFunc("GET /t/{n}/api/live", s.ofTrace(s.serveLive))
	mux.HandleFunc("GET /t/{n}/api/same", s.ofTrace(s.serveSame))
	return mux
}

// ofTrace finds the trace with the request's number.
func (s *Server) ofTrace(serve func(http.ResponseWriter, *http.Request, *book)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil || s.shelf.book(n) == nil {
			refuse(w, http.StatusNotFound, "There is no trace with this number; the list of traces is at the address that scopeview serve printed.")
			return
		}
		b := s.shelf.book(n)
		if of := r.URL.Query().Get("of"); of != "" {
			switch b.since(of) {
			case anew:
				b.supersede(of)
				refuseAnew(w)
				return
			case spoilt:
				refuse(w, http.StatusGone, "The trace's file was truncated or overwritten: it is no longer the recording that the page shows.")
				return
			}
		}
		serve(w, r, b)
	}
}

// large limits the number of requests whose answers take memory and time.
func (s *Server) large(serve func(http.ResponseWriter, *http.Request, *book)) func(http.ResponseWriter, *http.Request, *book) {
	return inPlace(s.heavy, serve)
}

// afterTiles waits until no tile is being made. Sums take as long as reading the trace; a
// user who moves the picture waits for a tile, which then has all processors.
func (s *Server) afterTiles() {
	s.tiles.Lock()
	defer s.tiles.Unlock()
}

// inPlace serves a request once it has one of the places.
func inPlace(places chan struct{}, serve func(http.ResponseWriter, *http.Request, *book)) func(http.ResponseWriter, *http.Request, *book) {
	return func(w http.ResponseWriter, r *http.Request, b *book) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-r.Context().Done():
			return
		}
		serve(w, r, b)
	}
}

// ServeHTTP answers a request, unless there are too many or the server ends.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerIn))
	w.Header().Set("Scopeview", s.guard.cookie) // identifies the server to the page
	if !s.enter() {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "Too many requests at once.")
		return
	}
	defer s.leave()
	s.guard.ServeHTTP(w, r)
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.busy == requestsMax {
		return false
	}
	s.busy++
	s.wait.Add(1)
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	s.busy--
	s.mu.Unlock()
	s.wait.Done()
}

// background runs f concurrently; Serve waits for it.
func (s *Server) background(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.wait.Go(f)
	}
}

// server returns the HTTP server. Its timeouts limit incomplete requests.
func (s *Server) server() *http.Server {
	return &http.Server{
		Handler:                      s,
		BaseContext:                  func(net.Listener) context.Context { return s.ctx },
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            10 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               64 << 10, // all servers of this host share their cookies
		ErrorLog:                     nil,
	}
}

// Serve answers requests from ln until ctx is done, and closes ln. When it returns, nothing
// of the server is running any more. It can be called once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	defer s.stop()
	srv := s.server()
	s.background(func() { s.dropIdle(s.ctx) })
	if s.shelf.root == nil {
		// Load the trace while the browser starts.
		s.background(func() { s.session(s.ctx, s.shelf.book(0)) })
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		s.stop()
		soon, stop := context.WithTimeout(context.Background(), grace)
		if srv.Shutdown(soon) != nil {
			srv.Close()
		}
		stop()
		err = <-ended
	}
	s.stop()
	srv.Close()
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.wait.Wait()
	s.timelines.remove()
	s.shelf.close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving at %s: %w", ln.Addr(), err)
}

// sentence formats an error for a client.
func sentence(err error) string { return strings.ToValidUTF8(err.Error(), "\uFFFD") }
