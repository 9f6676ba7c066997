//go:build !scope_off

package scopehttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// canDo returns the optional interfaces of w, as bits.
func canDo(w http.ResponseWriter) (can int) {
	is := func(bit int, ok bool) {
		if ok {
			can |= bit
		}
	}
	_, ok := w.(http.Flusher)
	is(canFlush, ok)
	_, ok = w.(http.Hijacker)
	is(canHijack, ok)
	_, ok = w.(io.ReaderFrom)
	is(canReadFrom, ok)
	_, ok = w.(closeNotifier)
	is(canCloseNotify, ok)
	_, ok = w.(http.Pusher)
	is(canPush, ok)
	_, ok = w.(io.StringWriter)
	is(canWriteString, ok)
	return can
}

// TestOptional: for each combination of optional interfaces a response has exactly these;
// WriteString only where such writers are common.
func TestOptional(t *testing.T) {
	for can := range 2 * canWriteString {
		w := (&response{}).with(can)
		got := canDo(w)
		if got&^canWriteString != can&^canWriteString || got&^can != 0 {
			t.Errorf("%06b: the response has %06b", can, got)
		}
		if _, ok := w.(interface{ FlushError() error }); ok != (can&canFlush != 0) {
			t.Errorf("%06b: it has FlushError: %t", can, ok)
		}
		if _, ok := w.(interface{ Unwrap() http.ResponseWriter }); !ok {
			t.Errorf("%06b: it has no Unwrap", can)
		}
	}
}

// TestOptionalOfStandard: handlers find the methods of the standard library's own writers.
func TestOptionalOfStandard(t *testing.T) {
	check := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got, want := canDo((&response{ResponseWriter: w}).asServers()), canDo(w); got != want {
				t.Errorf("%T can %06b, its response %06b", w, want, got)
			}
			next.ServeHTTP(w, r)
		})
	}
	done := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	h := check(http.TimeoutHandler(check(done), time.Minute, "late"))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	for _, two := range []bool{false, true} {
		server := httptest.NewUnstartedServer(h)
		server.EnableHTTP2 = two
		server.StartTLS()
		answer, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.ProtoMajor == 2 != two {
			t.Errorf("the answer is %s", answer.Proto)
		}
		server.Close()
	}
}
