package otlp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answer is one response of a collector.
type answer struct {
	code   int
	header string // Retry-After, or Location
	body   string
}

// TestSend: the result of a collector's responses, and the waits between tries.
func TestSend(t *testing.T) {
	busy := answer{429, "", ""}
	for _, test := range []struct {
		about    string
		answers  []answer
		tries    int
		waits    []time.Duration
		rejected int64
		err      string
	}{
		{"taken", []answer{{200, "", ""}}, 1, nil, 0, ""},
		{"taken, with words", []answer{{200, "", "OK"}}, 1, nil, 0, ""},
		{"in part", []answer{{200, "", `{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}`}}, 1, nil, 3, ""},
		{"in part, as a number", []answer{{200, "", `{"partialSuccess":{"rejectedSpans":2}}`}}, 1, nil, 2, ""},
		{"later", []answer{{429, "7", ""}, {503, "", ""}, {200, "", ""}}, 3, []time.Duration{7 * time.Second, 2 * time.Second}, 0, ""},
		{"at once", []answer{{503, "0", ""}, {200, "", ""}}, 2, []time.Duration{time.Millisecond}, 0, ""},
		{"much later", []answer{{503, "9000000000000000000", ""}, {200, "", ""}}, 2, []time.Duration{waitAtMost}, 0, ""},
		{"at a time", []answer{{503, "Fri, 31 Dec 2100 23:59:59 GMT", ""}, {200, "", ""}}, 2, []time.Duration{waitAtMost}, 0, ""},
		{"at no time", []answer{{503, "soon", ""}, {200, "", ""}}, 2, []time.Duration{time.Second}, 0, ""},
		{"never", []answer{busy, busy, busy, busy, busy, busy}, 6, []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9}, 0, "URL is busy: 429 Too Many Requests; gave up after 6 tries"},
		{"refused", []answer{{400, "", `{"code":3,"message":"no such tenant"}`}}, 1, nil, 0, "URL refused the spans: 400 Bad Request: no such tenant"},
		{"refused at length", []answer{{400, "", strings.Repeat("x", 1000)}}, 1, nil, 0, "URL refused the spans: 400 Bad Request: " + strings.Repeat("x", 200) + "…"},
		{"sent elsewhere", []answer{{307, "/other", ""}}, 1, nil, 0, "URL refused the spans: 307 Temporary Redirect"},
	} {
		t.Run(test.about, func(t *testing.T) {
			tries := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != "{}" || r.URL.Path != "/otlp/v1/traces" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Key") != "a b,c" {
					t.Errorf("%s %s with %s, %v", r.Method, r.URL, body, r.Header)
				}
				a := test.answers[min(tries, len(test.answers)-1)]
				tries++
				w.Header().Set("Retry-After", a.header)
				w.Header().Set("Location", a.header)
				w.WriteHeader(a.code)
				io.WriteString(w, a.body)
			}))
			defer server.Close()
			c, err := NewCollector(server.URL+"/otlp/", " X-Key=a%20b%2Cc, ")
			if err != nil {
				t.Fatal(err)
			}
			var waits []time.Duration
			c.sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
			text := ""
			if err := c.Send(t.Context(), []byte("{}")); err != nil {
				text = strings.ReplaceAll(err.Error(), c.URL, "URL")
			}
			if text != test.err || tries != test.tries || c.Rejected != test.rejected {
				t.Errorf("%q after %d tries, %d rejected; want %q after %d, %d", text, tries, c.Rejected, test.err, test.tries, test.rejected)
			}
			if len(waits) != len(test.waits) {
				t.Fatalf("waits %v, want %v", waits, test.waits)
			}
			for i := range waits {
				if waits[i] != test.waits[i] {
					t.Errorf("waits %v, want %v", waits, test.waits)
				}
			}
		})
	}
}

func TestSendStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		cancel()
	}))
	defer server.Close()
	c, err := NewCollector(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestNewCollector(t *testing.T) {
	for _, test := range []struct{ address, headers, want string }{
		{"http://localhost:4318", "", "http://localhost:4318/v1/traces"},
		{"https://x.example/a/", "", "https://x.example/a/v1/traces"},
		{"https://x.example/v1/traces", "a=1,b=2", "https://x.example/v1/traces"},
		{"localhost:4318", "", ""}, {"http://", "", ""}, {"http://a b", "", ""}, {"", "", ""},
		{"https://x.example?key=secret", "", ""}, {"https://me:secret@x.example", "", ""},
		{"http://localhost", "secret", ""}, {"http://localhost", "a=%secret", ""},
	} {
		c, err := NewCollector(test.address, test.headers)
		switch {
		case test.want == "" && (err == nil || strings.Contains(err.Error(), "secret")):
			t.Errorf("%q with %q: %v", test.address, test.headers, err)
		case test.want != "" && (err != nil || c.URL != test.want):
			t.Errorf("%q: %v", test.address, err)
		}
	}
}
