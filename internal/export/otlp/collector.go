package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// HeadersVariable is the environment variable with headers for the collector, as in
// OpenTelemetry's own exporters: KEY=VALUE,KEY=VALUE, with URL-encoded values. Credentials
// belong there, as other users can see addresses and flags.
const HeadersVariable = "OTEL_EXPORTER_OTLP_HEADERS"

// Limits of a collector's delays.
const (
	answerWithin = time.Minute
	maxTries     = 6
	waitAtMost   = 30 * time.Second // between two tries, whatever Retry-After is
)

// Collector sends requests to an OpenTelemetry collector, or to another server that accepts
// OTLP over HTTP.
type Collector struct {
	URL      string // destination of requests
	Rejected int64  // spans that the collector reported as rejected
	Why      string // the collector's reason for the last of them

	headers http.Header
	client  *http.Client
	sleep   func(context.Context, time.Duration) error
}

// NewCollector returns the collector at an address. It appends /v1/traces to an address
// without a path. headers is the value of HeadersVariable.
func NewCollector(address, headers string) (*Collector, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("invalid address of a collector; write for example http://localhost:4318")
	case u.User != nil || u.RawQuery != "":
		return nil, fmt.Errorf("the collector's address has a user, a password or a query, which others could see; put credentials into the environment variable %s", HeadersVariable)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%s is not the address of a collector; write for example http://localhost:4318", address)
	}
	if !strings.HasSuffix(u.Path, "/v1/traces") {
		u = u.JoinPath("v1/traces")
	}
	c := &Collector{URL: u.String(), headers: http.Header{}, sleep: sleep, client: &http.Client{
		Timeout:       answerWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers are for this host only
	}}
	for i, h := range strings.Split(headers, ",") {
		if strings.TrimSpace(h) == "" {
			continue
		}
		key, value, ok := strings.Cut(h, "=")
		text, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, fmt.Errorf("%s: header %d is not KEY=VALUE, with a value as in URLs", HeadersVariable, i+1) // not quoted: it may be secret
		}
		c.headers.Set(strings.TrimSpace(key), text)
	}
	c.headers.Set("Content-Type", "application/json")
	return c, nil
}

// Send sends a request. If the collector is busy it tries again, up to maxTries times.
func (c *Collector) Send(ctx context.Context, request []byte) error {
	for try := 1; ; try++ {
		wait, err := c.try(ctx, request)
		if err == nil || wait == 0 {
			return err
		}
		if try == maxTries {
			return fmt.Errorf("%w; gave up after %d tries", err, try)
		}
		if wait < 0 {
			wait = time.Second << (try - 1)
		}
		if err := c.sleep(ctx, min(wait, waitAtMost)); err != nil {
			return err
		}
	}
}

// try sends a request once. wait is 0 if another try makes no sense, and negative if the
// collector does not specify one.
func (c *Collector) try(ctx context.Context, request []byte) (wait time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(request))
	if err != nil {
		return 0, err
	}
	r.Header = c.headers
	resp, err := c.client.Do(r)
	if err != nil {
		return 0, fmt.Errorf("sending spans: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch code := resp.StatusCode; {
	case code == http.StatusOK && err == nil:
		c.partial(body)
		return 0, nil
	case code == http.StatusOK:
		return 0, fmt.Errorf("reading the answer of %s: %w", c.URL, err)
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return retryAfter(resp.Header.Get("Retry-After")), fmt.Errorf("%s is busy: %s", c.URL, resp.Status)
	}
	return 0, fmt.Errorf("%s refused the spans: %s%s", c.URL, resp.Status, said(body))
}

// retryAfter parses a Retry-After header; -1 if it is invalid.
func retryAfter(s string) time.Duration {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return max(time.Duration(min(n, int(waitAtMost/time.Second)))*time.Second, time.Millisecond)
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(time.Until(at), time.Millisecond)
	}
	return -1
}

// partial records the spans that the collector reports as rejected.
func (c *Collector) partial(body []byte) {
	var answer struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"` // a number, or a number as text
			ErrorMessage  string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return // accepted, whatever else the body has
	}
	if n, err := answer.PartialSuccess.RejectedSpans.Int64(); err == nil && n > 0 {
		c.Rejected += n
		c.Why = cut(answer.PartialSuccess.ErrorMessage)
	}
}

// said returns the message of a collector's error response, if it has one.
func said(body []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	text := string(body)
	if json.Unmarshal(body, &status) == nil {
		text = status.Message
	}
	if text = cut(strings.TrimSpace(text)); text == "" {
		return ""
	}
	return ": " + text
}

// cut shortens a collector's message to one line.
func cut(text string) string {
	const most = 200
	text = strings.ToValidUTF8(text, "?")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
