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

// Limits of the time that another machine may take.
const (
	connectWithin = 10 * time.Second
	answerWithin  = 5 * time.Minute // it first makes a snapshot, of up to many GiB
	stalledAfter  = 30 * time.Second
)

// ours is a header in all answers of scopehttp.Handler.
const ours = "X-Scopeview"

// isAddress reports whether TRACE is the address of a program's scopehttp.Handler, or of a trace on
// a web server.
func isAddress(arg string) bool {
	scheme, _, found := strings.Cut(arg, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// address is the address of a handler or of a file.
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

// isFile reports whether the address is of a trace file on a server, or of one that a server of
// net/http/pprof makes. A handler is mounted at a path without a dot in its last part.
func (a address) isFile() bool {
	return strings.Contains(a.Path[strings.LastIndexByte(a.Path, '/')+1:], ".") || strings.Contains(a.Path, "/pprof/")
}

// seconds returns the time for which a server of net/http/pprof records, during which it may send
// nothing; 0 if the address has none.
func (a address) seconds() time.Duration {
	n, err := strconv.ParseFloat(a.Query().Get("seconds"), 64)
	if err != nil || !(n > 0 && n < 1e6) {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// route returns the address of one of the handler's routes. The user may have given another route's
// address, copied from a link on the page.
func (a address) route(name string) string {
	u := *a.URL
	u.Fragment = ""
	u.Path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(u.Path, "status"), "download"), "/") + "/" + name
	u.RawPath = ""
	return u.String()
}

// client returns a client for programs. It follows no redirect of a POST.
func (a address) client() *http.Client {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectWithin}).DialContext,
		TLSHandshakeTimeout:   connectWithin,
		ResponseHeaderTimeout: answerWithin + a.seconds(),
		DisableCompression:    true, // so that the length is the trace's
		DisableKeepAlives:     true,
	}
	return &http.Client{Transport: t, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if via[0].Method != http.MethodGet || len(via) >= 5 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// ask sends a request; a status other than 200 is an error.
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

// explain returns an error that describes in words why there was no answer.
func (a address) explain(err error) error {
	var (
		inURL   *url.Error
		name    *net.DNSError
		timeout net.Error
	)
	if errors.As(err, &inURL) {
		err = inURL.Err // the error repeats the address
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: nothing listens there; check that the program runs, with its debug server on this port (%w)", a, err)
	case errors.As(err, &name):
		return fmt.Errorf("%s: the host can't be found (%w)", a, err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s: no answer in time; a firewall may be in between, or the program hangs (%w)", a, err)
	}
	return fmt.Errorf("asking %s: %w", a, err)
}

// refused returns the error for a refusal: in the words of our handler or of net/http/pprof, or a
// guess from another server's status.
func (a address) refused(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	said, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	switch {
	case (resp.Header.Get(ours) != "" || resp.Header.Get("X-Go-Pprof") != "") && said != "":
		return fmt.Errorf("%s: %s", a, said)
	case resp.StatusCode == http.StatusNotFound && !a.isFile():
		return fmt.Errorf("%s: 404, the server has no scopehttp.Handler at this path; give the address where it is mounted, such as http://localhost:6060/debug/scope/", a)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s: %s; if it requires a login, write https://USER:PASSWORD@HOST/…, or connect to the program's own port, such as by kubectl port-forward", a, resp.Status)
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("%s: %s; give the address that it redirects to: %s", a, resp.Status, resp.Header.Get("Location"))
	}
	return fmt.Errorf("%s: %s", a, resp.Status)
}

// controlAddress performs a request of ctl at an address: command is on, off, filter or snapshot,
// text the filter. It returns the program's answer.
func controlAddress(ctx context.Context, arg, command, text string) (string, error) {
	a, err := parseAddress(arg)
	if err != nil {
		return "", err
	}
	if a.isFile() {
		return "", usagef("%s: this is a file on a server; give the address where a program has mounted scopehttp.Handler, such as http://localhost:6060/debug/scope/", a)
	}
	form := url.Values{}
	switch {
	case command == "filter":
		form.Set("expr", text)
	case command == "snapshot" && text != "":
		return "", usagef("%s: the program writes snapshots only beside its trace, not to %s; for a snapshot on this machine: scopeview snapshot %s -o FILE", a, text, a)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.route(command), strings.NewReader(form.Encode()))
	if err != nil {
		return "", usagef("%w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := a.ask(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case err != nil:
		return "", a.explain(err)
	case resp.Header.Get(ours) == "":
		return "", fmt.Errorf("%s: the server that answered is not scopehttp.Handler: nothing was done", a)
	}
	return strings.TrimSpace(string(b)), nil
}
