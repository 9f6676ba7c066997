package scopehttp

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// mark is a header of all responses, by which a client recognizes this handler.
const mark = "X-Scopeview"

// protect sets the headers that keep browsers from doing more with a response
// than showing it. The page has its own policy.
func protect(h http.Header) {
	h.Set(mark, "1")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // forms send their origin only to this server
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// admit refuses requests that may come from a page of another site.
func (h *handler) admit(r *http.Request) error {
	if !h.knows(r.Host) {
		return refuse(http.StatusForbidden, "the host of a request must be an IP address, a name without a dot (as localhost), or one given to scopehttp.WithHosts; %q is none of these", r.Host)
	}
	if err := h.cross.Check(r); err != nil {
		return refuse(http.StatusForbidden, "pages of other sites change nothing here: %w", err)
	}
	// Reading needs the same origin too; the check above leaves that to CORS.
	for _, o := range r.Header.Values("Origin") {
		if u, err := url.Parse(o); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return refuse(http.StatusForbidden, "requests from pages of other sites are refused")
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	return refuse(http.StatusForbidden, "requests from pages of other sites are refused; if a link led here, open its address yourself")
}

// knows reports whether host, as in a Host header, is one that another site's
// page can't have: see the package's documentation.
func (h *handler) knows(host string) bool {
	u, err := url.Parse("//" + host)
	if err != nil || u.Host != host || u.Hostname() == "" {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return !strings.Contains(name, ".") || h.hosts[name] || h.hosts["*"]
}
