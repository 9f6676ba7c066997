// Command request shows one request over goroutines and processes. A client orders from a shop,
// which asks a stock for each article, on a goroutine each. All scopes of an order have its
// trace id, and so have the lines of the log.
//
//	go run ./examples/request          all in one process, one trace
//	go run ./examples/request -apart   the stock in a process and a trace of its own
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
	"github.com/scopeview/scopeview/scope/scopehttp"
	"github.com/scopeview/scopeview/scope/scopeslog"
)

var log = slog.New(scopeslog.New(slog.NewTextHandler(os.Stderr, nil)))

func main() {
	dir := flag.String("dir", "traces", "record into this `directory`")
	apart := flag.Bool("apart", false, "have a process of its own for the stock")
	asStock := flag.Bool("stock", false, "be that process")
	orders := flag.Int("orders", 3, "how many `orders` there are")
	flag.Parse()
	do := func() error { return run(*dir, *orders, *apart) }
	if *asStock {
		do = func() error { return beStock(*dir) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "request:", err)
		os.Exit(1)
	}
}

// run orders from a shop, and prints how to view the request.
func run(dir string, orders int, apart bool) (err error) {
	if err := record(dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scope.Stop()) }()
	var stock string
	if apart {
		p, err := startStock(dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.stop()) }()
		stock = p.url
	} else {
		s, err := serve(stockHandler())
		if err != nil {
			return err
		}
		defer s.Close()
		stock = "http://" + s.Addr
	}
	shop, err := serve(shopHandler(stock))
	if err != nil {
		return err
	}
	defer shop.Close()
	var last scope.Link
	for n := range orders {
		ctx, span := scope.Context(context.Background(), "order", n)
		err := ask(ctx, "POST", "http://"+shop.Addr+"/orders?articles=tea,cup,spoon")
		span.End()
		if err != nil {
			return err
		}
		last, _ = scope.LinkOf(ctx)
	}
	look := "scopeview html " + dir
	if apart {
		look = "scopeview merge " + dir + " -o orders.scope && scopeview html orders.scope"
	}
	fmt.Printf("%d orders; now run: %s, and search for %x, the last one's trace id\n", orders, look, last.Trace)
	return nil
}

func record(dir string) error { return scope.Start(dir+string(filepath.Separator), gotrace.With()) }

// serve serves on a free port of this machine.
func serve(h http.Handler) (*http.Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a port to serve on: %w", err)
	}
	s := &http.Server{Addr: l.Addr().String(), Handler: scopehttp.Middleware(h)}
	scope.Go("server", func() { s.Serve(l) })
	return s, nil
}

var client = &http.Client{Transport: scopehttp.Transport(nil)}

// ask sends a request with ctx, and reads the answer.
func ask(ctx context.Context, method, url string) error {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<10))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s", method, url, answer.Status)
	}
	return err
}

// shopHandler takes orders. It asks the stock for all articles at once.
func shopHandler(stock string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		articles := strings.Split(r.URL.Query().Get("articles"), ",")
		answers := make(chan error)
		for _, article := range articles {
			scope.Go("asks the stock", func() {
				ctx, span := scope.Context(r.Context(), "article", scope.KV("name", article))
				defer span.End()
				answers <- ask(ctx, "GET", stock+"/articles/"+article)
			})
		}
		var failed error
		for range articles {
			failed = errors.Join(failed, <-answers)
		}
		if failed != nil {
			log.ErrorContext(r.Context(), "not in stock", "articles", len(articles))
			http.Error(w, failed.Error(), http.StatusBadGateway)
			return
		}
		log.InfoContext(r.Context(), "ordered", "articles", len(articles))
		fmt.Fprintln(w, "ordered")
	})
	return mux
}

// stockHandler returns the stock of an article.
func stockHandler() http.Handler {
	mux := http.NewServeMux()
	shelf := scope.Mutex{Name: "shelf"}
	mux.HandleFunc("GET /articles/{name}", func(w http.ResponseWriter, r *http.Request) {
		_, span := scope.Context(r.Context(), "count")
		defer span.End()
		shelf.Lock()
		defer shelf.Unlock()
		n := 0
		for i := range 1_000_000 {
			n += i % (1 + len(r.PathValue("name")))
		}
		fmt.Fprintln(w, n)
	})
	return mux
}
