package requests

import (
	"strings"
	"testing"
)

func TestFirstSegment(t *testing.T) {
	for path, want := range map[string]string{
		"/": "/", "": "/", "/users": "/users", "/users/7": "/users/…", "/users/": "/users", "/7/x": "/…", "/a%2f/": "/…",
		"/" + strings.Repeat("a", 33): "/…", "/favicon.ico": "/favicon.ico",
	} {
		if got := firstSegment(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

// TestNamesAreBounded: clients can't create more names than the limit.
func TestNamesAreBounded(t *testing.T) {
	defer func(old *map[string][]named, n int) {
		names.all.Store(old)
		names.n = n
	}(names.all.Load(), names.n)
	names.all.Store(nil)
	names.n = 0
	seen := map[string]bool{}
	for i := range maxNames {
		seen[Served("M"+strings.Repeat("X", i%maxMethod), "/", "")] = true
	}
	if len(seen) != maxMethods+1 {
		t.Errorf("%d names of one path", len(seen))
	}
	for i := range maxNames {
		seen[Served("GET", "/"+strings.Repeat("X", i), "")] = true
		seen[Sent("GET", strings.Repeat("x", i)+".example")] = true
	}
	if len(seen) != maxNames+1 || !seen[other] {
		t.Errorf("%d names", len(seen))
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Served("GET", "/users/{id}", "/users/7"), "GET /users/{id}"},
		{Served("GET", "GET /users/{id}", "/users/7"), "GET /users/{id}"},
		{Served("POST", "", "/users/7"), "POST /users/…"},
		{Served(strings.Repeat("X", 33), "", "/"), "… /"},
		{Sent("PUT", "example.com:8080"), "HTTP PUT example.com:8080"},
		{Sent("", "example.com"), "HTTP GET example.com"},
		{Sent("GET", strings.Repeat("x", 261)), "HTTP GET …"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}
