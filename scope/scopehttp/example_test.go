//go:build !scope_off

package scopehttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

// A program's debug server, and the equivalent of curl -d ring=4M …/start and curl
// -O …/download.
func ExampleHandler() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	mux := http.NewServeMux()
	mux.Handle("/debug/scope/", scopehttp.Handler(scopehttp.WithDir(dir)))
	debug := httptest.NewServer(mux) // go http.ListenAndServe("localhost:6060", mux)
	defer debug.Close()
	address := debug.URL + "/debug/scope/"

	post := func(route string, form url.Values) {
		resp, err := http.PostForm(address+route, form)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		fmt.Println(route, resp.StatusCode)
	}
	post("start", url.Values{"ring": {"4M"}})
	scope.Task("f1")()

	resp, err := http.Get(address + "download")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	fmt.Println("download", resp.StatusCode, n > 0 && n == resp.ContentLength, err)

	post("stop", nil)
	post("stop", nil)
	// Output:
	// start 200
	// download 200 true <nil>
	// stop 200
	// stop 404
}

// Two services, one of which calls the other: their scopes belong to one request.
func ExampleMiddleware() {
	names := http.NewServeMux()
	names.HandleFunc("GET /names/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, span := scope.Context(r.Context(), "look up") // a child of "GET /names/{id}"
		defer span.End()
		fmt.Fprint(w, "Ada")
	})
	back := httptest.NewServer(scopehttp.Middleware(names))
	defer back.Close()

	client := &http.Client{Transport: scopehttp.Transport(nil)}
	greet := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, err := http.NewRequestWithContext(r.Context(), "GET", back.URL+"/names/7", nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer, err := client.Do(q) // a header carries the request's ids
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		fmt.Fprint(w, "hello ")
		io.Copy(w, answer.Body)
	})
	w := httptest.NewRecorder()
	scopehttp.Middleware(greet).ServeHTTP(w, httptest.NewRequest("GET", "/greet", nil))
	fmt.Println(w.Body)
	// Output: hello Ada
}

func ExampleTransport() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, ok := scope.ParseTraceparent(r.Header.Get("Traceparent"))
		fmt.Fprint(w, "has a trace: ", ok)
	}))
	defer server.Close()
	client := &http.Client{Transport: scopehttp.Transport(nil)}
	answer, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	fmt.Println(string(b), err) // nothing is recorded, so no header is sent
	// Output: has a trace: false <nil>
}
