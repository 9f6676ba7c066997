package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

// build is "new" in the build that is slower.
var build string

// service is the service of one process.
type service struct {
	peers  addresses
	o      options
	client *http.Client
	buys   sync.WaitGroup // that wait for answers
	mails  sync.WaitGroup // that are being sent
	mu     sync.Mutex     // of the stock
	left   int
}

// serve runs one service, from the line of stdin with the other addresses until stdin ends.
func serve(role string, stdin io.Reader, stdout io.Writer) error {
	if !slices.Contains(roles, role) {
		return fmt.Errorf("there is no service %q; there are %q", role, roles)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "http://%s\n", ln.Addr())
	var t assignment
	in := json.NewDecoder(stdin)
	if err := in.Decode(&t); err != nil {
		return fmt.Errorf("reading what the others are: %w", err)
	}
	s := &service{peers: t.Peers, o: t.Options, client: &http.Client{Transport: scopehttp.Transport(nil), Timeout: 5 * time.Second}}
	traces := s.o.Dir + string(filepath.Separator)
	slow := filepath.Join(s.o.Dir, "slow")
	if err := scope.Start(traces, scope.WithRing(s.o.Ring), scope.WithTrigger("GET /buy/*", s.o.Limit, slow)); err != nil {
		return err
	}
	defer scope.Stop()
	mux := http.NewServeMux()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	switch role {
	case "front":
		mux.HandleFunc("GET /buy/{item}", s.buy)
		s.buys.Go(func() { s.buyers(ctx, "http://"+ln.Addr().String()) })
	case "orders":
		mux.HandleFunc("POST /orders/{item}", s.order)
	case "users":
		mux.HandleFunc("GET /users/{id}", s.user)
	case "stock":
		mux.HandleFunc("POST /reserve/{item}", s.reserve)
		go s.counts(ctx)
	case "mail":
		mux.HandleFunc("POST /mail/{item}", s.mail)
	}
	debug, requests := scopehttp.Handler(scopehttp.WithDir(s.o.Dir)), scopehttp.Middleware(mux)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/debug/scope/") { // not a request of the service
			debug.ServeHTTP(w, r)
			return
		}
		requests.ServeHTTP(w, r)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	go func() {
		io.Copy(io.Discard, stdin) // until it ends
		stop()
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.buys.Wait()
	http.DefaultClient.CloseIdleConnections() // our buyers' too, which Shutdown would wait for
	soon, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if server.Shutdown(soon) != nil {
		server.Close()
	}
	s.mails.Wait()
	return nil
}

// ask sends a request to a service of a role, as a part of the request in ctx.
func (s *service) ask(ctx context.Context, method, role, path string) error {
	peers := s.peers[role]
	r, err := http.NewRequestWithContext(ctx, method, peers[rand.IntN(len(peers))]+path, nil)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s says %s", role, resp.Status)
	}
	return nil
}

// buyers sends requests at random times.
func (s *service) buyers(ctx context.Context, self string) {
	mean := time.Second * time.Duration(s.o.Fronts) / time.Duration(s.o.Rate)
	client := &http.Client{Timeout: 10 * time.Second}
	for ctx.Err() == nil {
		time.Sleep(time.Duration(float64(mean) * rand.ExpFloat64()))
		s.buys.Go(func() {
			if resp, err := client.Get(fmt.Sprintf("%s/buy/%d", self, rand.IntN(1000))); err == nil {
				resp.Body.Close()
			}
		})
	}
}

func (s *service) buy(w http.ResponseWriter, r *http.Request) {
	if err := s.ask(r.Context(), "POST", "orders", "/orders/"+r.PathValue("item")); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (s *service) order(w http.ResponseWriter, r *http.Request) {
	item := r.PathValue("item")
	if err := s.ask(r.Context(), "GET", "users", "/users/"+item); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	price()
	if err := s.ask(r.Context(), "POST", "stock", "/reserve/"+item); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	// The buyer does not wait for the mail, although it is part of the request.
	ctx := context.WithoutCancel(r.Context())
	s.mails.Add(1)
	scope.Go("mailer", func() {
		defer s.mails.Done()
		ctx, mailing := scope.Context(ctx, "mailing", item)
		defer mailing.End()
		if err := s.ask(ctx, "POST", "mail", "/mail/"+item); err != nil {
			scope.Event("mail.failed", err.Error())
		}
	})
}

// price is slower in the newer build.
func price() {
	defer scope.Task("price.total")()
	work(300 * time.Microsecond)
	if build == "new" {
		work(600 * time.Microsecond)
	}
}

func (s *service) user(w http.ResponseWriter, r *http.Request) {
	defer scope.Task("db.query", "users", r.PathValue("id"))()
	time.Sleep(500 * time.Microsecond) // like a remote database
}

func (s *service) reserve(w http.ResponseWriter, r *http.Request) {
	defer scope.Task("stock.reserve", r.PathValue("item"))()
	defer scope.Lock(&s.mu, "stock.mu")()
	s.left--
	work(50 * time.Microsecond)
}

// counts runs counts of the stock, from a random time on.
func (s *service) counts(ctx context.Context) {
	scope.Track("counter")
	time.Sleep(rand.N(s.o.Count))
	for ctx.Err() == nil {
		s.count()
		time.Sleep(s.o.Count)
	}
}

func (s *service) count() {
	defer scope.Task("stock.count")()
	defer scope.Lock(&s.mu, "stock.mu")()
	time.Sleep(3 * s.o.Limit) // it reads from a disk
}

func (s *service) mail(w http.ResponseWriter, r *http.Request) {
	defer scope.Task("smtp.send", r.PathValue("item"))()
	time.Sleep(2 * time.Millisecond)
}

// work computes for a duration.
func work(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}
