//go:build scope_off

package scopehttp

import "net/http"

// without reports whether package scope compiles to nothing.
const without = true

// Middleware returns next: nothing is recorded.
func Middleware(next http.Handler) http.Handler { return next }

// Transport returns base, or http.DefaultTransport if base is nil.
func Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		return http.DefaultTransport
	}
	return base
}
