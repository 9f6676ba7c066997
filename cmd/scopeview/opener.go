package main

import (
	"context"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/newfile"
)

// openerFor is how long the file stays that leads a browser to a server, if no browser comes.
const openerFor = 2 * time.Minute

// leadBrowser opens an address that has a secret. A browser's command line, and that of what starts
// it, can be read by every user of the machine. So what is opened is a file that only this user can
// read, whose page leads on to the address. The file goes once used is closed, ctx is done, or it is
// too old; the caller calls remove at its end.
func leadBrowser(ctx context.Context, address string, used <-chan struct{}) (remove func(), err error) {
	dir, err := openerDir()
	if err != nil {
		return func() {}, fmt.Errorf("making a directory for the page that leads the browser to the address: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, openerFor)
	remove = sync.OnceFunc(func() {
		stop()
		os.RemoveAll(dir)
	})
	path := filepath.Join(dir, "open.html")
	if err := writeOpener(path, address); err != nil {
		remove()
		return remove, fmt.Errorf("writing the page that leads the browser to the address: %w", err)
	}
	if err := openBrowser(path, 0); err != nil {
		remove()
		return remove, err
	}
	go func() {
		select {
		case <-used:
		case <-ctx.Done():
		}
		remove()
	}()
	return remove, nil
}

// openerDir makes a directory that only this user can enter. Browsers that come as a snap or flatpak
// see neither the machine's /tmp nor what is hidden in the home directory, but the rest of that.
func openerDir() (string, error) {
	const pattern = "scopeview-open-*"
	if home, err := os.UserHomeDir(); err == nil && runtime.GOOS == "linux" {
		if dir, err := os.MkdirTemp(home, pattern); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", pattern)
}

// openerPage replaces itself, so that the address is not behind the back button.
var openerPage = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>scopeview</title>
<noscript><meta http-equiv="refresh" content="0;url={{.}}"></noscript>
<p><a href="{{.}}">The timeline</a></p>
<script>location.replace(document.querySelector("a").href)</script>
`))

func writeOpener(path, address string) error {
	f, err := newfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := openerPage.Execute(f, address); err != nil {
		return err
	}
	return f.Close()
}
