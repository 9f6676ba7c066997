//go:build !scope_off

package scopehttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// response is an http.ResponseWriter that notes the status and counts the bytes.
type response struct {
	http.ResponseWriter
	status   int // as sent; 0: none yet
	bytes    int64
	hijacked bool
}

// Unwrap implements the interface of http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) wrote(n int64) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.bytes += n
}

func (w *response) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.wrote(int64(n))
	return n, err
}

func writeString(w *response, s string) (int, error) {
	n, err := w.ResponseWriter.(io.StringWriter).WriteString(s)
	w.wrote(int64(n))
	return n, err
}

func flush(w *response) error {
	w.wrote(0)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func readFrom(w *response, r io.Reader) (int64, error) {
	n, err := w.ResponseWriter.(io.ReaderFrom).ReadFrom(r)
	w.wrote(n)
	return n, err
}

func hijack(w *response) (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := w.ResponseWriter.(http.Hijacker).Hijack()
	w.hijacked = err == nil
	return c, rw, err
}

func push(w *response, target string, opts *http.PushOptions) error {
	return w.ResponseWriter.(http.Pusher).Push(target, opts)
}

// closeNotifier is http.CloseNotifier, which is deprecated and still used.
type closeNotifier interface{ CloseNotify() <-chan bool }

func closeNotify(w *response) <-chan bool { return w.ResponseWriter.(closeNotifier).CloseNotify() }

// asServers returns w with the optional methods that the server's writer has, and no others:
// a handler adapts to the methods it finds.
func (w *response) asServers() http.ResponseWriter {
	can := 0
	if _, ok := w.ResponseWriter.(http.Flusher); ok {
		can |= canFlush
	}
	if _, ok := w.ResponseWriter.(http.Hijacker); ok {
		can |= canHijack
	}
	if _, ok := w.ResponseWriter.(io.ReaderFrom); ok {
		can |= canReadFrom
	}
	if _, ok := w.ResponseWriter.(io.StringWriter); ok {
		can |= canWriteString
	}
	if _, ok := w.ResponseWriter.(closeNotifier); ok {
		can |= canCloseNotify
	}
	if _, ok := w.ResponseWriter.(http.Pusher); ok {
		can |= canPush
	}
	return w.with(can)
}
