package main

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"
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
