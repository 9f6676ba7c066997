package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// How long another machine may keep us waiting.
const (
	connectWithin = 10 * time.Second
	answerWithin  = 5 * time.Minute // a snapshot of many GiB is made first
	stalledAfter  = 30 * time.Second
)

// ours is a header of all answers of scopehttp.Handler.
const ours = "X-Scopeview"

// isAddress reports whether TRACE is where a program's scopehttp.Handler answers,
// or a trace on a web server.
func isAddress(arg string) bool {
	scheme, _, found := strings.Cut(arg, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// address is where a handler is mounted, or where a file is.
type address struct{ *url.URL }

func parseAddress(arg string) (address, error) {
	u, err := url.Parse(arg)
	if err != nil {
		return address{}, usagef("%w; write for example http://localhost:6060/debug/scope/", err)
	}
	if u.Hostname() == "" {
		return address{}, usagef("%s: the address names no host; write for example http://localhost:6060/debug/scope/", arg)
	}
	return address{u}, nil
}

// String returns the address without a password.
func (a address) String() string { return a.Redacted() }

// isFile reports whether a trace is meant that lies on a server as it is, or that a server of
// net/http/pprof makes. A handler is mounted at a path that has no dot in its last part.
func (a address) isFile() bool {
	return strings.Contains(a.Path[strings.LastIndexByte(a.Path, '/')+1:], ".") || strings.Contains(a.Path, "/pprof/")
}

// seconds is for how long a server of net/http/pprof is asked to record: it may have nothing
// to say meanwhile.
func (a address) seconds() time.Duration {
	n, err := strconv.ParseFloat(a.Query().Get("seconds"), 64)
	if err != nil || !(n > 0 && n < 1e6) {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// route is the address of one of the handler's routes. Whoever copied the link
// to another one from the page gave that.
func (a address) route(name string) string {
	u := *a.URL
	u.Fragment = ""
	u.Path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(u.Path, "status"), "download"), "/") + "/" + name
	u.RawPath = ""
	return u.String()
}

// client asks programs, and nothing that they refer us to when we post.
func (a address) client() *http.Client {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectWithin}).DialContext,
		TLSHandshakeTimeout:   connectWithin,
		ResponseHeaderTimeout: answerWithin + a.seconds(),
		DisableCompression:    true, // the length is to be that of the trace
		DisableKeepAlives:     true,
	}
	return &http.Client{Transport: t, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if via[0].Method != http.MethodGet || len(via) >= 5 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// ask sends a request; an answer other than 200 is an error.
func (a address) ask(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", "scopeview")
	resp, err := a.client().Do(r)
	if err != nil {
		return nil, a.explain(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, a.refused(resp)
	}
	return resp, nil
}

// explain says in words why no answer came.
func (a address) explain(err error) error {
	var (
		inURL   *url.Error
		name    *net.DNSError
		timeout net.Error
	)
	if errors.As(err, &inURL) {
		err = inURL.Err // it says the address again
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: nothing listens there; does the program run, and its debug server on this port? (%w)", a, err)
	case errors.As(err, &name):
		return fmt.Errorf("%s: the host can't be found (%w)", a, err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s: no answer in time; is there a firewall in between, or does the program hang? (%w)", a, err)
	}
	return fmt.Errorf("asking %s: %w", a, err)
}

// refused says why the answer is not what was asked for: in our handler's words or net/http/pprof's,
// or as far as another server's answer lets guess.
func (a address) refused(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	said, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	switch {
	case (resp.Header.Get(ours) != "" || resp.Header.Get("X-Go-Pprof") != "") && said != "":
		return fmt.Errorf("%s: %s", a, said)
	case resp.StatusCode == http.StatusNotFound && !a.isFile():
		return fmt.Errorf("%s: 404, there is a server but nothing of ours; is scopehttp.Handler mounted there? Give the address where it is, such as http://localhost:6060/debug/scope/", a)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s: %s; if it is a login that is wanted, write https://USER:PASSWORD@HOST/…, or reach the program's own port, by kubectl port-forward for instance", a, resp.Status)
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("%s: %s; give the address to which this leads: %s", a, resp.Status, resp.Header.Get("Location"))
	}
	return fmt.Errorf("%s: %s", a, resp.Status)
}
