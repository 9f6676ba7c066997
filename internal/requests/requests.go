// Package requests names the scopes of HTTP requests. Clients choose methods, paths and
// hosts, so names are limited in number and in length.
package requests

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Served returns the name of a request to a server: "GET /users/{id}". If no pattern of an
// http.ServeMux is known, the name has the first segment of the path: "GET /users/…".
func Served(method, pattern, path string) string {
	if pattern == "" {
		pattern = firstSegment(path)
	}
	return names.of(key{false, method, pattern})
}

// Sent returns the name of a request of a client: "HTTP GET example.com".
func Sent(method, host string) string {
	if len(host) > maxHost {
		host = "…"
	}
	return names.of(key{true, method, host})
}

// maxHost and maxMethod are the maximum lengths of a host with its port, and of a method, in a name.
const maxHost, maxMethod = 260, 32

// firstSegment returns the first segment of a path. It leaves out segments that look like an
// id, because clients choose paths.
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

// key identifies a name.
type key struct {
	sent           bool
	method, target string
}

func (k key) name() string {
	switch {
	case k.sent:
		return "HTTP " + k.method + " " + k.target
	case strings.Contains(k.target, " "): // the target begins with a method itself
		return strings.Clone(k.target)
	}
	return k.method + " " + k.target
}

// table maps targets to names. It has at most maxNames names, and maxMethods of a target.
type table struct {
	all atomic.Pointer[map[string][]named]
	mu  sync.Mutex
	n   int
}

type named struct {
	key
	name string
}

var names table

const maxNames, maxMethods = 1000, 20

// other is the name of all requests beyond the limits.
const other = "other requests"

func (t *table) of(k key) string {
	switch {
	case k.method == "": // a zero http.Request is sent with GET
		k.method = "GET"
	case len(k.method) > maxMethod:
		k.method = "…"
	}
	if name, ok := t.known(k); ok {
		return name
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if name, ok := t.known(k); ok {
		return name
	}
	by := map[string][]named{}
	if all := t.all.Load(); all != nil {
		if t.n >= maxNames || len((*all)[k.target]) >= maxMethods {
			return other
		}
		maps.Copy(by, *all)
	}
	k.method, k.target = strings.Clone(k.method), strings.Clone(k.target)
	x := named{k, k.name()}
	by[k.target] = append(slices.Clip(by[k.target]), x)
	t.n++
	t.all.Store(&by)
	return x.name
}

func (t *table) known(k key) (name string, ok bool) {
	all := t.all.Load()
	if all == nil {
		return "", false
	}
	list := (*all)[k.target]
	for i := range list {
		if x := &list[i]; x.sent == k.sent && x.method == k.method {
			return x.name, true
		}
	}
	return "", false
}
