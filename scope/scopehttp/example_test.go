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

// A program's debug server, and what curl -d ring=4M …/start and curl -O …/download
// would do.
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
