//go:build !scope_off

package hooks

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/internal/sys"
)

// request is called on the goroutine that serves a request, before its handler. pattern
// is empty where the server's handler is no http.ServeMux.
func request(method, pattern, path, id string) (a, b int64) {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return 0, 0
	}
	args := []any{record.KV("path", path), record.KV("id", id)}
	if id == "" {
		args = args[:1]
	}
	h := record.BeginUnplaced(requests.Served(method, pattern, path), nil, args)
	return h.Loc, h.Start
}

// responded is called behind the handler; pattern is what is known of it only now.
func responded(a, b int64, pattern string) { end(a, b, "pattern", pattern) }
