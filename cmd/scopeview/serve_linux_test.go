package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestServeOpens: --open gives the address to the desktop's opener; without one
// it says so and serves.
func TestServeOpens(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	v := serve(t, t.TempDir(), "--open")
	if code, errs := v.ends(); code != exitOK || !strings.Contains(errs, "open the address yourself") {
		t.Errorf("exit %d, %q", code, errs)
	}
	pipe := filepath.Join(bin, "opened")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >"+pipe+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	v = serve(t, t.TempDir(), "--open")
	if b, err := os.ReadFile(pipe); err != nil || string(b) != v.url+"\n" {
		t.Errorf("opened %q, %v; want %s", b, err, v.url)
	}
	if code, errs := v.ends(); code != exitOK || errs != "" {
		t.Errorf("exit %d, %q", code, errs)
	}
}
