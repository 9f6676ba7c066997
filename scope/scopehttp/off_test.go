//go:build scope_off

package scopehttp

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestOff: a program without a recorder says so, and creates no file.
func TestOff(t *testing.T) {
	h := Handler(WithDir(t.TempDir()))
	for route, r := range routes() {
		method, want := strings.Split(r.methods, ", ")[0], 501
		if route == "" || route == "status" {
			want = 200
		}
		q := httptest.NewRequest(method, "/"+route, nil)
		q.Host = "localhost"
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, q); w.Code != want || want != 200 && !strings.Contains(w.Body.String(), "scope_off") {
			t.Errorf("%s %s: %d %q, want %d", method, route, w.Code, w.Body, want)
		}
	}
}
