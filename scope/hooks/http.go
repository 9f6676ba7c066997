//go:build !scope_off

package hooks

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// request is called on the goroutine that serves a request, before its handler. pattern
// is empty where the server's handler is no http.ServeMux.
func request(method, pattern, path, id string) (a, b int64) {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return 0, 0
	}
	if pattern == "" {
		pattern = firstSegment(path)
	}
	name := requestName(method, pattern)
	record.Unplaced(name)
	var h record.Handle
	if id == "" {
		h = record.BeginTask(name, []any{record.KV("path", path)})
	} else {
		h = record.BeginTask(name, []any{record.KV("path", path), record.KV("id", id)})
	}
	return h.Loc, h.Start
}

// responded is called behind the handler; pattern is what is known of it only now.
func responded(a, b int64, pattern string) { end(a, b, "pattern", pattern) }

// firstSegment is what a path begins with, as a name: clients choose paths, so what looks
// like an id of something is left out.
func firstSegment(path string) string {
	path = strings.TrimPrefix(path, "/")
	first, rest, more := strings.Cut(path, "/")
	if len(first) > 32 || strings.ContainsFunc(first, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '-' || r == '_' || r == '.')
	}) {
		return "/…"
	}
	if more && rest != "" {
		return "/" + first + "/…"
	}
	return "/" + first
}

// requestNames are the names of requests by what they are made of. Beyond maxRequests there
// are no new ones.
var requestNames struct {
	all atomic.Pointer[map[[2]string]string]
	mu  sync.Mutex
}

const maxRequests = 1000

// requestName is "GET /users/{id}".
func requestName(method, pattern string) string {
	t := &requestNames
	key := [2]string{method, pattern}
	if all := t.all.Load(); all != nil {
		if name, ok := (*all)[key]; ok {
			return name
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	by := map[[2]string]string{}
	if all := t.all.Load(); all != nil {
		for k, v := range *all {
			by[k] = v
		}
	}
	if len(by) >= maxRequests {
		return "other requests"
	}
	name := pattern
	if !strings.Contains(pattern, " ") { // else it begins with a method itself
		name = strings.Clone(method) + " " + pattern
	}
	by[[2]string{strings.Clone(method), strings.Clone(pattern)}] = strings.Clone(name)
	t.all.Store(&by)
	return name
}
