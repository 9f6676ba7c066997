package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

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
