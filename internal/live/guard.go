package live

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
)

// guard authorizes requests, and sets headers on every answer that keep browsers from doing
// more than showing it.
type guard struct {
	hosts  hosts
	token  string
	cookie string // its name: browsers send cookies to all ports, so two servers need different names
	next   http.Handler

	entered chan struct{} // closed after the first request with the token
	once    sync.Once
}

func newGuard(h hosts, next http.Handler) *guard {
	return &guard{hosts: h, token: secret(16), cookie: "scopeview-" + secret(4), next: next, entered: make(chan struct{})}
}

// secret returns n random bytes, in hex. crypto/rand does not fail: it would end the
// program.
func secret(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// strict is the Content-Security-Policy of every answer except pages with their own policy.
const strict = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", strict)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !g.hosts.allow(r.Host):
		refuse(w, http.StatusForbidden, "Use this server as localhost, by a loopback address, or by a name given to scopeview serve with --allow-host.")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "Only GET and HEAD are allowed.")
	case !g.origin(r):
		refuse(w, http.StatusForbidden, "Requests from pages of other sites are refused.")
	case r.URL.Query().Has("token"):
		g.admit(w, r)
	case !g.known(r):
		refuse(w, http.StatusForbidden, "Open the address that scopeview serve printed: it has the required token.")
	case r.URL.Path != clean(r.URL.Path):
		refuse(w, http.StatusNotFound, "There is no page of this name.")
	default:
		g.next.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	http.Error(w, why, status)
}

// origin reports whether a request was made by the user or by our own page, according to the
// browser's headers. Other programs send none.
func (g *guard) origin(r *http.Request) bool {
	for _, o := range r.Header.Values("Origin") {
		if !g.hosts.allowOrigin(o) {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	// Another site may link to a page, but not fetch it. Without the token the user is not
	// known yet.
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" && isPage(r.URL.Path)
}

// isPage reports whether a path is that of the list, of the newest trace or of a trace's page.
func isPage(p string) bool {
	rest, ok := strings.CutPrefix(p, "/t/")
	n, ok2 := strings.CutSuffix(rest, "/")
	return p == "/" || p == newestPath || ok && ok2 && n != "" && digits(n)
}

// known reports whether the request has our cookie.
func (g *guard) known(r *http.Request) bool {
	c, err := r.Cookie(g.cookie)
	return err == nil && g.isToken(c.Value)
}

func (g *guard) isToken(s string) bool {
	return subtle.ConstantTimeCompare([]byte(s), []byte(g.token)) == 1
}

// admit sets the cookie for a request with the token in the address, and redirects to the
// address without it.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if len(q["token"]) != 1 || !g.isToken(q["token"][0]) {
		refuse(w, http.StatusForbidden, "The token in the address is not this server's: open the address that scopeview serve printed.")
		return
	}
	g.once.Do(func() { close(g.entered) })
	q.Del("token")
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	// Only a path: after two leading slashes would be another host.
	to := (&url.URL{Path: clean(r.URL.Path), RawQuery: q.Encode()}).String()
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	// Browsers don't send a strict cookie with a redirection that another site began, but
	// they do from our own page.
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html>\n<title>scopeview</title>\n<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n", template.HTMLEscapeString(to))
}

// clean returns the path without dots and double slashes, with its trailing slash if it had
// one.
func clean(p string) string {
	c := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && c != "/" {
		c += "/"
	}
	return c
}
