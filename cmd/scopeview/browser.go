package main

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/newfile"
)

// browserCommand returns the command that shows an address, or a file, in the user's browser.
func browserCommand(address string) []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", address}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	return []string{"xdg-open", address}
}

// openBrowser shows an address in the user's browser. It does not wait for the browser to end,
// except that it reports a failure within the time wait.
func openBrowser(address string, wait time.Duration) error {
	command := browserCommand(address)
	c := exec.Command(command[0], command[1:]...)
	err := c.Start()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("can't open a browser: %s is not installed", command[0])
	}
	if err != nil {
		return fmt.Errorf("opening the browser: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("no browser could be opened: %s: %w", command[0], err)
		}
	case <-time.After(wait):
	}
	return nil
}

// openerFor is the lifetime of the file that leads a browser to a server, if no browser opens it.
const openerFor = 2 * time.Minute

// leadBrowser opens an address that contains a secret. Every user of the machine can read the
// command lines of a browser and of its starter. So it opens a file that only this user can read,
// whose page redirects to the address. The file is removed once used is closed, ctx is done, or
// openerFor has passed; the caller must call remove at its end.
func leadBrowser(ctx context.Context, address string, used <-chan struct{}) (remove func(), err error) {
	dir, err := openerDir()
	if err != nil {
		return func() {}, fmt.Errorf("making a directory for the redirecting page: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, openerFor)
	remove = sync.OnceFunc(func() {
		stop()
		os.RemoveAll(dir)
	})
	path := filepath.Join(dir, "open.html")
	if err := writeOpener(path, address); err != nil {
		remove()
		return remove, fmt.Errorf("writing the redirecting page: %w", err)
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

// openerDir creates a directory that only this user can enter. Browsers packaged as snap or flatpak
// see neither the machine's /tmp nor hidden files in the home directory, but the rest of it.
func openerDir() (string, error) {
	const pattern = "scopeview-open-*"
	if home, err := os.UserHomeDir(); err == nil && runtime.GOOS == "linux" {
		if dir, err := os.MkdirTemp(home, pattern); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", pattern)
}

// openerPage replaces itself, so that the back button does not lead to the address.
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
