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
)

// Options tell a Server what to show to whom.
type Options struct {
	Path       string             // a trace, or a directory with traces
	With       string             // a trace to compare it with; empty: none
	Of         analysis.Selection // what of each trace is shown: Processes and Objects
	AllowHosts []string           // names and addresses beside the loopback's under which it may be asked
	Version    string             // of the tool, for the page to tell
	Weights    advice.Weights     // of advice; nil: those that are built in
}

// Server shows traces to browsers.
type Server struct {
	o        Options
	shelf    *shelf
	with     *book // what the others are compared with; nil: nothing
	guard    *guard
	heavy    chan struct{} // who makes large answers, a place each
	read     chan struct{} // who reads a trace to its end: tiles must not wait for them
	tiles    sync.RWMutex  // held for reading while a tile is made; see afterTiles
	examined chan struct{} // who asks the doctor, which takes long: others must not wait for it

	timelines timelines // of several traces

	ctx  context.Context // of all that runs
	stop context.CancelFunc
	mu   sync.Mutex
	busy int  // requests being answered
	over bool // no more are
	wait sync.WaitGroup

	most amounts
	idle time.Duration // how long a trace stays loaded that nobody looks at
}

// Limits of one server. They are far above what people looking at traces need,
// and keep a page that loops from taking the machine.
const (
	requestsMax = 256
	heavyMax    = 2
	idleFor     = 10 * time.Minute
	answerIn    = 30 * time.Second
	largeIn     = 10 * time.Minute // through a slow tunnel
	grace       = time.Second      // for answers under way when the server ends
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
	s := &Server{o: o, shelf: sh, with: with, heavy: make(chan struct{}, heavyMax), read: make(chan struct{}, heavyMax), examined: make(chan struct{}, 1), most: usual, idle: idleFor}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.guard = newGuard(h, s.mux())
	return s, nil
}

// Address is what to open in a browser, with the token, if the server listens at
// addr. Where that is every address of the machine, it is an allowed name or
// the loopback.
func (s *Server) Address(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "http://" + addr.String() + "/?token=" + s.guard.token
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
		if len(s.o.AllowHosts) > 0 {
			host = strings.Trim(s.o.AllowHosts[0], "[]")
		}
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/", RawQuery: "token=" + s.guard.token}
	return u.String()
}

// Entered returns a channel that is closed once somebody has come with the token.
func (s *Server) Entered() <-chan struct{} { return s.guard.entered }

func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	if s.shelf.root != nil {
		mux.HandleFunc("GET /{$}", s.serveList)
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
	mux.HandleFunc("GET /t/{n}/api/live", s.ofTrace(s.serveLive))
	mux.HandleFunc("GET /t/{n}/api/same", s.ofTrace(s.serveSame))
	return mux
}

// ofTrace finds the trace of the request's number.
func (s *Server) ofTrace(serve func(http.ResponseWriter, *http.Request, *book)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil || s.shelf.book(n) == nil {
			refuse(w, http.StatusNotFound, "There is no trace of this number; the list of traces is at the address that scopeview serve has printed.")
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
				refuse(w, http.StatusGone, "The trace's file was cut off or overwritten: it is not the recording any more that the page shows.")
				return
			}
		}
		serve(w, r, b)
	}
}

// large is for answers that take memory and time: a few are made at once.
func (s *Server) large(serve func(http.ResponseWriter, *http.Request, *book)) func(http.ResponseWriter, *http.Request, *book) {
	return inPlace(s.heavy, serve)
}

// afterTiles waits until no tile is being made. Somebody moves the picture and waits for a
// tile: it has all processors, though sums are being made, which take as long as reading the
// trace does.
func (s *Server) afterTiles() {
	s.tiles.Lock()
	defer s.tiles.Unlock()
}

// inPlace answers when it has one of the places.
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
	w.Header().Set("Scopeview", s.guard.cookie) // a page knows by it that nobody else answers at this port
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

// background runs f beside the requests; Serve waits for it.
func (s *Server) background(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.wait.Go(f)
	}
}

// server is what listens. Who sends no whole request is not waited for for long.
func (s *Server) server() *http.Server {
	return &http.Server{
		Handler:                      s,
		BaseContext:                  func(net.Listener) context.Context { return s.ctx },
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            10 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               64 << 10, // every server of this host sets cookies for all its ports
		ErrorLog:                     nil,
	}
}

// Serve answers requests that come to ln until ctx is done, and closes ln. When
// it returns, nothing of the server runs any more. It can be called once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	defer s.stop()
	srv := s.server()
	s.background(func() { s.dropIdle(s.ctx) })
	if s.shelf.root == nil {
		// It is what will be asked for: while the browser starts it can be read.
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

// sentence is an error as it is shown to who asked.
func sentence(err error) string { return strings.ToValidUTF8(err.Error(), "\uFFFD") }
