//go:build !scope_off

package scopehttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// response is an http.ResponseWriter that sees the status and counts the bytes.
type response struct {
	http.ResponseWriter
	status   int // of what was sent; 0: nothing yet
	bytes    int64
	hijacked bool
}

// Unwrap is for http.ResponseController.
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

// WriteString spares io.WriteString a copy, as that of net/http's own does.
func (w *response) WriteString(s string) (int, error) {
	n, err := io.WriteString(w.ResponseWriter, s)
	w.wrote(int64(n))
	return n, err
}

// flushing is a response whose server can send what there is.
type flushing struct{ *response }

func (w flushing) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController.
func (w flushing) FlushError() error {
	w.wrote(0)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// hijackable is a response whose server can do all that one of HTTP/1 can.
type hijackable struct{ flushing }

func (w hijackable) ReadFrom(r io.Reader) (int64, error) {
	n, err := w.ResponseWriter.(io.ReaderFrom).ReadFrom(r)
	w.wrote(n)
	return n, err
}

func (w hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := w.ResponseWriter.(http.Hijacker).Hijack()
	w.hijacked = err == nil
	return c, rw, err
}

// asServers returns it with what the server's own can do.
func (w *response) asServers() http.ResponseWriter {
	if _, ok := w.ResponseWriter.(http.Flusher); !ok {
		return w
	}
	_, reads := w.ResponseWriter.(io.ReaderFrom)
	if _, ok := w.ResponseWriter.(http.Hijacker); !ok || !reads {
		return flushing{w}
	}
	return hijackable{flushing{w}}
}
